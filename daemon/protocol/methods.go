package protocol

// Method names of loomd's own messages.
const (
	MethodToolsList            = "loom/tools/list"
	MethodToolsCall            = "loom/tools/call"
	MethodToolsRegister        = "loom/tools/register"
	MethodToolsUnregister      = "loom/tools/unregister"
	MethodToolsInvoke          = "loom/tools/invoke"
	MethodToolsDidChange       = "loom/tools/didChange"
	MethodProposalsList        = "loom/proposals/list"
	MethodProposalsGet         = "loom/proposals/get"
	MethodProposalsDecide      = "loom/proposals/decide"
	MethodProposalsSplit       = "loom/proposals/split"
	MethodProposalsUndo        = "loom/proposals/undo"
	MethodProposalsHistory     = "loom/proposals/history"
	MethodProposalsDidChange   = "loom/proposals/didChange"
	MethodSessionsList         = "loom/sessions/list"
	MethodSessionsClose        = "loom/sessions/close"
	MethodSessionsDidChange    = "loom/sessions/didChange"
	MethodRulesList            = "loom/rules/list"
	MethodRulesAdd             = "loom/rules/add"
	MethodRulesRemove          = "loom/rules/remove"
	MethodIndexStatus          = "loom/index/status"
	MethodIndexSync            = "loom/index/sync"
	MethodIndexFind            = "loom/index/find"
	MethodDocumentsDidWrite    = "loom/documents/didWrite"
	MethodStatus               = "loom/status"
	MethodPermissionsList      = "loom/permissions/list"
	MethodPermissionsDecide    = "loom/permissions/decide"
	MethodPermissionsRevoke    = "loom/permissions/revoke"
	MethodPermissionsDidChange = "loom/permissions/didChange"
)

// Direction says who sends a message.
type Direction string

const (
	ToDaemon Direction = "client → daemon"
	ToClient Direction = "daemon → client"
)

// Method is one row of the wire's table.
type Method struct {
	Name      string
	Direction Direction
	Params    any // a zero value of the parameters' type; nil: none
	Result    any // a zero value of the result's type; nil: a notification
	Roles     []Role
	Doc       string
}

var (
	everyone  = []Role{RoleEditor, RoleAgent, RoleReviewer}
	deciders  = []Role{RoleEditor, RoleReviewer}
	proposers = []Role{RoleAgent}
)

// Methods lists loomd's own messages, in the order of docs/protocol.md. LSP's
// messages are not in it: clients have their types already.
var Methods = []Method{
	{MethodToolsList, ToDaemon, Empty{}, ToolsListResult{}, everyone, "The tools of the connection's toolset, in a stable order."},
	{MethodToolsCall, ToDaemon, ToolsCallParams{}, ToolsCallResult{}, proposers, "Runs one tool in the session's view. Editors and reviewers get a rights error."},
	{MethodToolsRegister, ToDaemon, ToolsRegisterParams{}, Empty{}, everyone, "Lends tools to sessions, until the client takes them back or goes."},
	{MethodToolsUnregister, ToDaemon, ToolsUnregisterParams{}, Empty{}, everyone, "Takes lent tools back."},
	{MethodProposalsList, ToDaemon, ProposalsListParams{}, ProposalsListResult{}, everyone, "Proposals without hunks and diff; an agent sees its own session's."},
	{MethodProposalsGet, ToDaemon, ProposalsGetParams{}, ProposalsGetResult{}, everyone, "One proposal with hunks and diff, on request with both texts in pages."},
	{MethodProposalsDecide, ToDaemon, DecideParams{}, DecideResult{}, deciders, "Accepts or rejects hunks, a file or a change set. What is accepted is written before the answer."},
	{MethodProposalsUndo, ToDaemon, UndoParams{}, DecideResult{}, deciders, "Reopens decided hunks; accepted text is taken back out of the tree while it still stands there."},
	{MethodProposalsSplit, ToDaemon, SplitParams{}, SplitResult{}, deciders, "Cuts a text hunk into pieces that are decided one by one."},
	{MethodProposalsHistory, ToDaemon, HistoryParams{}, HistoryResult{}, deciders, "What was decided, by whom or by which rule, with the file's hash before and after."},
	{MethodRulesList, ToDaemon, Empty{}, RulesListResult{}, deciders, "The rules in force, and where each came from."},
	{MethodRulesAdd, ToDaemon, RulesAddParams{}, RulesAddResult{}, deciders, "Adds a rule, for one session or for good."},
	{MethodRulesRemove, ToDaemon, RulesRemoveParams{}, Empty{}, deciders, "Takes away a rule that was added; those from configuration are changed there."},
	{MethodPermissionsList, ToDaemon, PermissionsListParams{}, PermissionsListResult{}, deciders, "Commands that wait for allow or deny, and what was decided and holds, oldest first."},
	{MethodPermissionsDecide, ToDaemon, PermissionsDecideParams{}, PermissionResult{}, deciders, "Allows or denies a command that waits."},
	{MethodPermissionsRevoke, ToDaemon, PermissionsRevokeParams{}, PermissionResult{}, deciders, "Takes an allow or a deny back: the next such command is asked about."},
	{MethodSessionsList, ToDaemon, Empty{}, SessionsListResult{}, everyone, "All sessions, oldest first."},
	{MethodSessionsClose, ToDaemon, SessionsCloseParams{}, Empty{}, everyone, "Closes a session; an agent only its own. Its proposals stay decidable."},
	{MethodIndexStatus, ToDaemon, Empty{}, IndexStatusResult{}, everyone, "What the index holds and what hinders it."},
	{MethodIndexSync, ToDaemon, IndexSyncParams{}, IndexStatusResult{}, everyone, "Answers when every change that was finished before the call is in the index."},
	{MethodIndexFind, ToDaemon, IndexFindParams{}, IndexFindResult{}, everyone, "Files by parts of their path, ranked, as a picker wants them."},
	{MethodStatus, ToDaemon, Empty{}, StatusResult{}, everyone, "The daemon's process, roots, clients, sessions and problems."},
	{MethodToolsInvoke, ToClient, ToolsInvokeParams{}, ToolsInvokeResult{}, everyone, "Has the client that lent a tool carry a call out."},
	{MethodToolsDidChange, ToClient, ToolsListResult{}, nil, proposers, "The tools of the connection's toolset are others now: all of them."},
	{MethodProposalsDidChange, ToClient, ProposalDidChangeParams{}, nil, deciders, "A proposal's new state, whole."},
	{MethodPermissionsDidChange, ToClient, PermissionResult{}, nil, deciders, "A request's new state, whole."},
	{MethodDocumentsDidWrite, ToClient, DidWriteParams{}, nil, deciders, "The file of an open document without unsaved changes was written."},
	{MethodSessionsDidChange, ToClient, Session{}, nil, deciders, "A session was opened or closed."},
}
