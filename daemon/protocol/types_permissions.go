package protocol

// PermissionState is where a request stands.
type PermissionState string

const (
	PermissionAsked     PermissionState = "asked"     // nobody has decided
	PermissionAllowed   PermissionState = "allowed"   // the same command may run, as often as the scope says
	PermissionDenied    PermissionState = "denied"    // the same command of the session is denied
	PermissionUsed      PermissionState = "used"      // it was allowed once, and has run
	PermissionRevoked   PermissionState = "revoked"   // what was decided holds no more
	PermissionWithdrawn PermissionState = "withdrawn" // its session is over
)

// PermissionScope is how long an allow holds.
type PermissionScope string

const (
	ScopeOnce    PermissionScope = "once"    // for the next such command of the session
	ScopeSession PermissionScope = "session" // until the session ends
	ScopeAlways  PermissionScope = "always"  // for every session of these roots, until it is revoked
)

// Permission asks a person whether a command may run, or says what was decided.
// The same command is one of the same tool and the very same text.
type Permission struct {
	ID      string          `json:"id"`
	Session string          `json:"session,omitempty"` // absent: allowed always, by an earlier daemon
	Label   string          `json:"label,omitempty"`
	Tool    string          `json:"tool"`
	Command string          `json:"command"`        // whole; of a grant as a shell would be told it
	Runs    []string        `json:"runs"`           // what it would run, as far as that can be told
	Why     string          `json:"why,omitempty"`  // it is asked about
	Rule    string          `json:"rule,omitempty"` // that asks; absent: what no rule allows is asked about
	State   PermissionState `json:"state"`
	Scope   PermissionScope `json:"scope,omitempty"`   // of an allow
	By      string          `json:"by,omitempty"`      // who decided
	Reason  string          `json:"reason,omitempty"`  // of a deny: the agent is told
	Since   string          `json:"since"`             // RFC 3339, UTC
	Decided string          `json:"decided,omitempty"` // likewise
}

// PermissionsListParams narrows a list; every field is optional.
type PermissionsListParams struct {
	Session string          `json:"session,omitempty"` // an id or a label
	State   PermissionState `json:"state,omitempty"`   // absent: asked, allowed and denied
}

// PermissionsListResult is sorted by age, oldest first.
type PermissionsListResult struct {
	Permissions []Permission `json:"permissions"`
}

// PermissionDecision names what a person says of a command.
type PermissionDecision string

const (
	AllowCommand PermissionDecision = "allow"
	DenyCommand  PermissionDecision = "deny"
)

// PermissionsDecideParams decides a request. The first decision wins.
type PermissionsDecideParams struct {
	ID       string             `json:"id"`
	Decision PermissionDecision `json:"decision"`
	Scope    PermissionScope    `json:"scope,omitempty"`  // of an allow; absent: once
	Reason   string             `json:"reason,omitempty"` // of a deny, for the agent: at most 2000 bytes
}

// PermissionsRevokeParams names what was decided.
type PermissionsRevokeParams struct {
	ID string `json:"id"`
}

// PermissionResult is one request as it is now.
type PermissionResult struct {
	Permission Permission `json:"permission"`
}
