package daemon

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/loomd/loomd/daemon/protocol"
)

// method is how one message is answered.
type method struct {
	run     func(ctx context.Context, c *client, params json.RawMessage) (any, error)
	propose bool // only for connections that may propose
	decide  bool // only for connections that may decide
}

// on makes a method of a function over its parameters' type.
func on[P, R any](f func(c *client, ctx context.Context, p P) (R, error)) method {
	return method{run: func(ctx context.Context, c *client, params json.RawMessage) (any, error) {
		p, err := decode[P](params)
		if err != nil {
			return nil, err
		}
		return f(c, ctx, p)
	}}
}

// strictly is on for messages in which a member that is not understood would
// be dangerous to pass over: it could narrow what is accepted.
func strictly[P, R any](f func(c *client, ctx context.Context, p P) (R, error)) method {
	return method{run: func(ctx context.Context, c *client, params json.RawMessage) (any, error) {
		var p P
		d := json.NewDecoder(bytes.NewReader(params))
		d.DisallowUnknownFields()
		if err := d.Decode(&p); err != nil && len(params) > 0 {
			return nil, undecodable(err)
		}
		return f(c, ctx, p)
	}}
}

func proposing(m method) method { m.propose = true; return m }
func deciding(m method) method  { m.decide = true; return m }

// none is the result of a notification, and of shutdown.
type none = any

// methods is the whole wire: LSP's messages and loomd's. It is filled by init
// because its functions refer to it through the client.
var methods map[string]method

func init() {
	methods = map[string]method{
		"initialize":  on((*client).initialize),
		"initialized": on((*client).initialized),
		"shutdown":    on((*client).shutdown),
		"exit":        on((*client).exit),
		"$/setTrace":  on((*client).setTrace),

		"textDocument/didOpen":   deciding(on((*client).didOpen)),
		"textDocument/didChange": deciding(on((*client).didChange)),
		"textDocument/didSave":   deciding(on((*client).didSave)),
		"textDocument/didClose":  deciding(on((*client).didClose)),

		protocol.MethodToolsList:         on((*client).toolsList),
		protocol.MethodToolsCall:         proposing(on((*client).toolsCall)),
		protocol.MethodToolsRegister:     on((*client).toolsRegister),
		protocol.MethodToolsUnregister:   on((*client).toolsUnregister),
		protocol.MethodProposalsList:     on((*client).proposalsList),
		protocol.MethodProposalsGet:      on((*client).proposalsGet),
		protocol.MethodProposalsDecide:   deciding(strictly((*client).proposalsDecide)),
		protocol.MethodProposalsUndo:     deciding(strictly((*client).proposalsUndo)),
		protocol.MethodProposalsSplit:    deciding(strictly((*client).proposalsSplit)),
		protocol.MethodProposalsHistory:  deciding(on((*client).proposalsHistory)),
		protocol.MethodRulesList:         deciding(on((*client).rulesList)),
		protocol.MethodRulesAdd:          deciding(strictly((*client).rulesAdd)),
		protocol.MethodRulesRemove:       deciding(strictly((*client).rulesRemove)),
		protocol.MethodSessionsList:      on((*client).sessionsList),
		protocol.MethodSessionsClose:     on((*client).sessionsClose),
		protocol.MethodIndexStatus:       on((*client).indexStatus),
		protocol.MethodIndexSync:         on((*client).indexSync),
		protocol.MethodIndexFind:         on((*client).indexFind),
		protocol.MethodStatus:            on((*client).status),
		protocol.MethodPermissionsList:   deciding(on((*client).permissionsList)),
		protocol.MethodPermissionsDecide: deciding(strictly((*client).permissionsDecide)),
		protocol.MethodPermissionsRevoke: deciding(strictly((*client).permissionsRevoke)),
	}
}
