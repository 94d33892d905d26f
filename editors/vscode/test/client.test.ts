// Drives the real daemon with clients that nobody here wrote (vscode-jsonrpc
// and vscode-languageserver-protocol), over the socket and over stdio.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test, type TestContext } from "node:test";
import {
  CancellationTokenSource,
  DidChangeTextDocumentNotification,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  ErrorCodes,
  InitializeRequest,
  LSPErrorCodes,
  ResponseError,
} from "vscode-languageserver-protocol/node";
import {
  proposalsDecideRequest,
  proposalsGetRequest,
  proposalsListRequest,
  proposalsUndoRequest,
  protocolVersion,
  statusRequest,
  toolsCallRequest,
  toolsListRequest,
} from "../src/protocol.gen";
import { Client, initializeParams, refused } from "./client";
import { binary, Daemon, soon, type Transport } from "./daemon";
import { dot, showsAnImage } from "./image";

const base = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";
const withNine = base.replace("nine", "NINE");
const withBoth = withNine.replace("two", "TWO");

// Long enough that a hundred requests for its last line are not answered
// before the hundredth is cancelled.
const longLines = 200_000;
const files = {
  "dot.txt": dot,
  "count.txt": base,
  "notes.txt": "on disk\n",
  "long.txt": Array.from({ length: longLines }, (_, i) => `this is line ${i + 1}\n`).join(""),
};

interface ReadFile {
  path: string;
  contents: string;
  truncated: boolean;
}

interface EditFile {
  path: string;
  edits_applied: number;
  original_bytes: number;
  new_bytes: number;
  proposal: string;
  state: string;
  diff: string;
}

interface Failure {
  code: string;
  message: string;
}

interface Cast {
  daemon: Daemon;
  editor: Client;
  agent: Client;
  reviewer: Client;
}

type Step = (name: string, body: () => Promise<void>) => Promise<void>;

/** Steps are subtests; the ones after a failed step are skipped. */
function stepsOf(t: TestContext, daemon: Daemon): Step {
  let failed = false;
  return (name, body) =>
    t.test(name, { skip: failed ? "an earlier step failed" : false }, async (st) => {
      try {
        await body();
      } catch (err) {
        failed = true;
        st.diagnostic(daemon.describe());
        throw err;
      }
    });
}

async function withDaemon(t: TestContext, transport: Transport, body: (d: Daemon, step: Step) => Promise<void>): Promise<void> {
  const daemon = await Daemon.start(transport, files);
  try {
    await body(daemon, stepsOf(t, daemon));
  } finally {
    await daemon.dispose();
  }
}

test("LOOMD names a binary", () => {
  binary();
});

test("over the socket", { skip: process.platform === "win32" }, async (t) => {
  await withDaemon(t, "socket", async (daemon, step) => {
    let cast: Cast | undefined;
    await step("an unknown version, and a request that comes too early", () => badBeginnings(daemon));
    await step("initialize: editor, agent, reviewer", async () => {
      cast = await assemble(daemon, await Client.open(await daemon.overSocket(), { role: "editor" }, ["utf-16"]));
    });
    await story(step, () => played(cast));
    await step("shutdown and exit end one connection each, a signal ends the daemon", async () => {
      const { reviewer, agent, editor } = played(cast);
      await reviewer.leave();
      await agent.leave();
      const status = await soon("status", editor.connection.sendRequest(statusRequest, {}));
      assert.ok(status.clients.some((c) => c.role === "editor"), JSON.stringify(status.clients));
      await editor.leave();
      daemon.terminate();
      assert.equal(await soon("loomd to end", daemon.ended), "status 0");
    });
  });
});

test("over stdio", { skip: process.platform === "win32" }, async (t) => {
  await withDaemon(t, "stdio", async (daemon, step) => {
    let cast: Cast | undefined;
    await step("initialize: editor over stdio, agent and reviewer over the private socket", async () => {
      cast = await assemble(daemon, await Client.open(daemon.overStdio(), { role: "editor" }, ["utf-16"]));
    });
    await story(step, () => played(cast));
    await step("shutdown and exit end the daemon", async () => {
      const { reviewer, agent, editor } = played(cast);
      await reviewer.leave();
      await agent.leave();
      await editor.leave();
      assert.equal(await soon("loomd to end", daemon.ended), "status 0");
    });
  });
});

function played(cast: Cast | undefined): Cast {
  assert.ok(cast, "nobody is connected");
  return cast;
}

/** Connects the other two, and checks what each of the three was given. */
async function assemble(daemon: Daemon, editor: Client): Promise<Cast> {
  const agent = await Client.open(
    await daemon.overSocket(),
    { role: "agent", protocolVersion, session: { label: "client test" } },
    ["utf-8", "utf-16"],
  );
  const reviewer = await Client.open(await daemon.overSocket(), { role: "reviewer" });

  assert.deepEqual(editor.loom.rights, { role: "editor", propose: false, decide: true });
  assert.deepEqual(agent.loom.rights, { role: "agent", propose: true, decide: false });
  assert.deepEqual(reviewer.loom.rights, { role: "reviewer", propose: false, decide: true });
  assert.equal(agent.loom.session?.label, "client test");
  for (const { loom } of [editor, agent, reviewer]) {
    assert.equal(loom.protocolVersion, protocolVersion);
    assert.ok(loom.supportedVersions.includes(protocolVersion));
    assert.equal(loom.roots.length, 1);
  }
  assert.equal(editor.capabilities.positionEncoding, "utf-16", "the only encoding that the editor offered");
  assert.ok(["utf-8", "utf-16"].includes(agent.capabilities.positionEncoding ?? ""), "one of the two offered");
  assert.equal(reviewer.capabilities.positionEncoding ?? "utf-16", "utf-16", "nothing was offered");
  return { daemon, editor, agent, reviewer };
}

async function badBeginnings(daemon: Daemon): Promise<void> {
  const connection = await daemon.overSocket();
  connection.listen();
  const early = await refused("a request before initialize", connection.sendRequest(toolsListRequest, {}));
  assert.equal(early.code, ErrorCodes.ServerNotInitialized);

  const unknown = initializeParams({ role: "editor", protocolVersion: 999 });
  const version = await refused("protocol version 999", connection.sendRequest(InitializeRequest.type, unknown));
  assert.equal(version.data?.kind, "protocol_version", version.message);
  assert.ok(version.data.supported?.includes(protocolVersion), JSON.stringify(version.data));
  connection.end();
}

/** What the three do together, whatever connects them. */
async function story(step: Step, cast: () => Cast): Promise<void> {
  await step("tools/list", () => lists(cast()));
  await step("didOpen, didChange and didClose: the agent reads the open document", () => documents(cast()));
  await step("tools/call: an image is an image block", () => showsAnImage(cast().agent));
  let proposal = "";
  await step("tools/call: an edit is a proposal, the disk is as it was", async () => {
    proposal = await proposes(cast());
  });
  await step("an agent cannot decide, and others cannot call tools", () => rights(cast(), proposal));
  await step("accepting one hunk writes exactly that hunk", () => accepts(cast(), proposal));
  await step("the agent's next outcome carries the review, the one after does not", () => reviews(cast(), proposal));
  await step("rejecting the rest, and undoing what was accepted", () => rejectsAndUndoes(cast(), proposal));
  await step("a tool that fails is a result, an unknown tool or method an error", () => failures(cast()));
  await step("cancelling really cancels", () => cancels(cast()));
}

async function lists({ agent }: Cast): Promise<void> {
  const { tools } = await soon("tools/list", agent.connection.sendRequest(toolsListRequest, {}));
  const names = tools.map((tool) => tool.name);
  assert.equal(new Set(names).size, names.length, `a name twice: ${names.join(" ")}`);
  for (const name of ["read_file", "edit_file", "write_file", "list_files"]) {
    const tool = tools.find((candidate) => candidate.name === name);
    assert.ok(tool, `${name} is missing in: ${names.join(" ")}`);
    assert.equal((tool.inputSchema as { type?: string }).type, "object", `${name}'s inputSchema`);
    assert.ok(tool.description.length > 0, `${name} has no description`);
  }
}

async function documents({ daemon, editor, agent }: Cast): Promise<void> {
  const uri = daemon.uri("notes.txt");
  // A request is handled after the notifications before it, so its answer says
  // that the daemon has the document.
  const synced = () => soon("proposals/list", editor.connection.sendRequest(proposalsListRequest, {}));
  const contents = async () => (await agent.done<ReadFile>("read_file", { path: "notes.txt" })).result.contents;

  assert.equal(await contents(), "on disk\n");
  await editor.connection.sendNotification(DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: "plaintext", version: 1, text: "a😀b\nsecond\n" },
  });
  await synced();
  assert.equal(await contents(), "a😀b\nsecond\n");

  // In UTF-16 the emoji is two units wide: b stands at 3.
  await editor.connection.sendNotification(DidChangeTextDocumentNotification.type, {
    textDocument: { uri, version: 2 },
    contentChanges: [
      { range: { start: { line: 0, character: 3 }, end: { line: 0, character: 4 } }, text: "c\nnew" },
      { range: { start: { line: 2, character: 6 }, end: { line: 2, character: 6 } }, text: "!" },
    ],
  });
  await synced();
  assert.equal(await contents(), "a😀c\nnew\nsecond!\n");
  assert.equal(await daemon.read("notes.txt"), "on disk\n");

  await editor.connection.sendNotification(DidCloseTextDocumentNotification.type, { textDocument: { uri } });
  await synced();
  assert.equal(await contents(), "on disk\n");
}

async function proposes({ daemon, editor, agent, reviewer }: Cast): Promise<string> {
  const before = await agent.done<ReadFile>("read_file", { path: "count.txt" });
  assert.equal(before.result.contents, base);
  const { result, outcome } = await agent.done<EditFile>("edit_file", {
    path: "count.txt",
    edits: [
      { old_str: "two", new_str: "TWO" },
      { old_str: "nine", new_str: "NINE" },
    ],
  });
  assert.equal(result.path, "count.txt");
  assert.equal(result.edits_applied, 2);
  assert.equal(result.original_bytes, Buffer.byteLength(base));
  assert.equal(result.new_bytes, Buffer.byteLength(withBoth));
  assert.equal(result.state, "open");
  assert.match(result.diff, /^-two\n\+TWO$/m);
  assert.deepEqual(outcome.reviews, []);
  assert.ok(outcome.content.some((block) => block.type === "text"), "no text for the model");

  assert.equal(await daemon.read("count.txt"), base, "the disk before any decision");
  const view = await agent.done<ReadFile>("read_file", { path: "count.txt" });
  assert.equal(view.result.contents, withBoth, "the agent's view");

  for (const client of [editor, reviewer]) {
    const told = await client.hears("the new proposal", (p) => p.id === result.proposal && p.state === "open");
    assert.equal(told.path, "count.txt");
    assert.equal(told.hunks?.length, 2);
  }
  const { proposals } = await reviewer.connection.sendRequest(proposalsListRequest, { path: "count.txt" });
  assert.deepEqual(proposals.map((p) => [p.id, p.hunkCount, p.added, p.removed]), [[result.proposal, 2, 2, 2]]);
  return result.proposal;
}

async function rights({ daemon, editor, agent, reviewer }: Cast, id: string): Promise<void> {
  const { proposal } = await agent.connection.sendRequest(proposalsGetRequest, { id });
  const decided = agent.connection.sendRequest(proposalsDecideRequest, { id, version: proposal.version, decision: "accept" });
  assert.equal((await refused("an agent's decide", decided)).data?.kind, "rights");
  const undone = agent.connection.sendRequest(proposalsUndoRequest, { id });
  assert.equal((await refused("an agent's undo", undone)).data?.kind, "rights");
  for (const client of [editor, reviewer]) {
    const called = client.connection.sendRequest(toolsCallRequest, { name: "read_file", arguments: { path: "count.txt" } });
    assert.equal((await refused(`a call by the ${client.loom.rights.role}`, called)).data?.kind, "rights");
  }
  assert.equal(await daemon.read("count.txt"), base);
  const after = await reviewer.connection.sendRequest(proposalsGetRequest, { id });
  assert.equal(after.proposal.state, "open");
  assert.equal(after.proposal.version, proposal.version);
}

async function accepts({ daemon, editor, reviewer }: Cast, id: string): Promise<void> {
  const got = await soon("proposals/get", reviewer.connection.sendRequest(proposalsGetRequest, { id, texts: true }));
  assert.equal(got.base?.text, base);
  assert.equal(got.proposed?.text, withBoth);
  assert.match(got.proposal.diff ?? "", /^-nine\n\+NINE$/m);
  const hunks = got.proposal.hunks ?? [];
  assert.deepEqual(
    hunks.map((h) => [h.state, h.oldStart, h.oldLines, h.newStart, h.newLines]),
    [["open", 2, 1, 2, 1], ["open", 9, 1, 9, 1]],
  );
  const hunk = hunks[1]?.id ?? "";
  const { version } = got.proposal;

  const unknown = reviewer.connection.sendRequest(proposalsDecideRequest, {
    id, version, decisions: [{ hunk: "no-such-hunk", decision: "accept" }],
  });
  assert.equal((await refused("an unknown hunk", unknown)).data?.kind, "unknown_hunk");
  assert.equal(await daemon.read("count.txt"), base);

  const decisions = [{ hunk, decision: "accept" as const, comment: "nine is right" }];
  const result = await soon("decide", reviewer.connection.sendRequest(proposalsDecideRequest, { id, version, decisions }));
  assert.equal(await daemon.read("count.txt"), withNine, "the disk after one hunk");
  assert.deepEqual(result.written, { path: "count.txt", hash: createHash("sha256").update(withNine).digest("hex") });
  assert.equal(result.proposal?.state, "open");
  assert.equal(result.proposal.hunkCount, 1);
  assert.ok(result.proposal.version > version, "the version was not raised");
  await editor.hears("the accepted hunk", (p) => p.id === id && p.hunkCount === 1 && p.version > version);

  const again = reviewer.connection.sendRequest(proposalsDecideRequest, { id, version, decisions });
  const twice = await refused("the same decision again", again);
  assert.equal(twice.code, LSPErrorCodes.ContentModified, twice.message);
  assert.equal(await daemon.read("count.txt"), withNine);
}

async function reviews({ agent }: Cast, id: string): Promise<void> {
  const { result, outcome } = await agent.done<ReadFile>("read_file", { path: "count.txt" });
  assert.equal(result.contents, withBoth, "the agent's view after one hunk was accepted");
  const [review, ...more] = outcome.reviews;
  assert.ok(review, "the outcome has no review");
  assert.deepEqual(more, []);
  assert.equal(review.proposal, id);
  assert.equal(review.path, "count.txt");
  assert.equal(review.decision, "accepted");
  assert.equal(review.comment, "nine is right");
  assert.equal(review.hash, createHash("sha256").update(withNine).digest("hex"));
  const next = await agent.done<ReadFile>("read_file", { path: "count.txt" });
  assert.deepEqual(next.outcome.reviews, []);
}

async function rejectsAndUndoes({ daemon, editor, agent, reviewer }: Cast, id: string): Promise<void> {
  const { proposal } = await editor.connection.sendRequest(proposalsGetRequest, { id });
  const rejected = await soon("reject", editor.connection.sendRequest(proposalsDecideRequest, {
    id, version: proposal.version, decision: "reject", comment: "not two",
  }));
  assert.equal(rejected.proposal?.state, "applied", "all is decided and something was accepted");
  assert.equal(rejected.written, undefined);
  assert.equal(await daemon.read("count.txt"), withNine);
  await reviewer.hears("the proposal is applied", (p) => p.id === id && p.state === "applied");
  const { result, outcome } = await agent.done<ReadFile>("read_file", { path: "count.txt" });
  assert.equal(result.contents, withNine, "a rejected hunk has left the view");
  assert.deepEqual(outcome.reviews.map((r) => [r.decision, r.comment]), [["rejected", "not two"]]);

  const accepted = proposal.hunks?.find((h) => h.state === "accepted");
  assert.ok(accepted, `the accepted hunk is not listed: ${JSON.stringify(proposal.hunks)}`);
  const undone = await soon("undo", reviewer.connection.sendRequest(proposalsUndoRequest, { id, hunk: accepted.id }));
  assert.equal(undone.proposal?.state, "open");
  assert.equal(await daemon.read("count.txt"), base, "the disk after undo");
}

async function failures({ agent }: Cast): Promise<void> {
  const missing = await agent.call("read_file", { path: "absent.txt" });
  assert.equal(missing.isError, true);
  assert.equal((missing.structuredContent as Failure).code, "file_not_found");
  const outside = await agent.call("read_file", { path: "../secret.txt" });
  assert.equal((outside.structuredContent as Failure).code, "path_outside_workspace");
  const wrong = await agent.call("read_file", { path: 7 });
  assert.equal((wrong.structuredContent as Failure).code, "invalid_arguments");

  const tool = agent.connection.sendRequest(toolsCallRequest, { name: "reed_file", arguments: {} });
  assert.equal((await refused("an unknown tool", tool)).code, ErrorCodes.InvalidParams);
  const method = await refused("an unknown method", agent.connection.sendRequest("loom/no/such/method", {}));
  assert.equal(method.code, ErrorCodes.MethodNotFound);
  await agent.done<ReadFile>("read_file", { path: "notes.txt" });
}

async function cancels({ agent }: Cast): Promise<void> {
  const source = new CancellationTokenSource();
  const requests = Array.from({ length: 100 }, () =>
    agent.connection.sendRequest(
      toolsCallRequest,
      { name: "read_file", arguments: { path: "long.txt", offset: longLines, limit: 1 } },
      source.token,
    ),
  );
  source.cancel();
  let cancelled = 0;
  for (const answer of await soon("an answer to each cancelled request", Promise.allSettled(requests))) {
    if (answer.status === "fulfilled") {
      assert.equal((answer.value.structuredContent as ReadFile).contents, `this is line ${longLines}\n`);
      continue;
    }
    assert.ok(answer.reason instanceof ResponseError, String(answer.reason));
    assert.equal(answer.reason.code, LSPErrorCodes.RequestCancelled, answer.reason.message);
    cancelled++;
  }
  assert.ok(cancelled > 0, "all of the hundred requests ran to their end");
  await agent.done<ReadFile>("read_file", { path: "notes.txt" });
}
