// A client as an editor's extension would be: the public client library, the
// generated types, and a memory of what the daemon told it.

import assert from "node:assert/strict";
import {
  type InitializeParams,
  type InitializeResult,
  InitializedNotification,
  InitializeRequest,
  ExitNotification,
  type ProtocolConnection,
  ResponseError,
  ShutdownRequest,
} from "vscode-languageserver-protocol/node";
import {
  type ErrorData,
  type LoomCapabilities,
  type LoomOptions,
  type Proposal,
  proposalsDidChangeNotification,
  toolsCallRequest,
  type ToolsCallResult,
} from "../src/protocol.gen";
import { soon } from "./daemon";

interface Waiter {
  wanted: (p: Proposal) => boolean;
  resolve: (p: Proposal) => void;
  reject: (err: Error) => void;
}

export class Client {
  /** Every state of a proposal that the daemon told of, oldest first. */
  readonly told: Proposal[] = [];
  private waiting: Waiter[] = [];

  private constructor(
    readonly connection: ProtocolConnection,
    /** Resolves when the connection has ended. */
    readonly closed: Promise<void>,
    readonly capabilities: InitializeResult["capabilities"],
    readonly loom: LoomCapabilities,
  ) {
    connection.onNotification(proposalsDidChangeNotification, ({ proposal }) => this.hear(proposal));
    void this.closed.then(() => {
      for (const w of this.waiting.splice(0)) {
        w.reject(new Error("the connection ended"));
      }
    });
  }

  /** Goes through initialize and initialized. */
  static async open(
    connection: ProtocolConnection,
    loom: LoomOptions | undefined,
    positionEncodings?: string[],
  ): Promise<Client> {
    const closed = new Promise<void>((resolve) => {
      connection.onClose(() => {
        // Fails the requests that will get no answer any more.
        connection.dispose();
        resolve();
      });
    });
    connection.listen();
    const who = loom?.role ?? "plain editor";
    const result = await soon(
      `initialize of the ${who}`,
      connection.sendRequest(InitializeRequest.type, initializeParams(loom, positionEncodings)),
    ).catch((err: Error) => {
      throw new Error(`initialize of the ${who}: ${err.message}`, { cause: err });
    });
    const experimental = result.capabilities.experimental as { loom?: LoomCapabilities } | undefined;
    assert.ok(experimental?.loom, `capabilities.experimental.loom for the ${who}: ${JSON.stringify(result)}`);
    const client = new Client(connection, closed, result.capabilities, experimental.loom);
    await connection.sendNotification(InitializedNotification.type, {});
    return client;
  }

  /** The first state told of, past or future, that is wanted. */
  hears(what: string, wanted: (p: Proposal) => boolean): Promise<Proposal> {
    const known = this.told.find(wanted);
    if (known !== undefined) {
      return Promise.resolve(known);
    }
    const told = new Promise<Proposal>((resolve, reject) => this.waiting.push({ wanted, resolve, reject }));
    return soon(`loom/proposals/didChange: ${what}`, told).catch((err: Error) => {
      const states = this.told.map((p) => `${p.id} ${p.path} ${p.state} version ${p.version}`);
      throw new Error(`${err.message}; told so far: ${states.join(", ") || "nothing"}`);
    });
  }

  /** Calls a tool; the outcome may be a failure. */
  call(name: string, args: object): Promise<ToolsCallResult> {
    return soon(`${name} ${JSON.stringify(args)}`, this.connection.sendRequest(toolsCallRequest, { name, arguments: args }));
  }

  /** Calls a tool that must succeed. */
  async done<T>(name: string, args: object): Promise<{ result: T; outcome: ToolsCallResult }> {
    const outcome = await this.call(name, args);
    assert.equal(outcome.isError, false, `${name} failed: ${JSON.stringify(outcome.structuredContent)}`);
    return { result: outcome.structuredContent as T, outcome };
  }

  /** Ends the connection as LSP wants it. */
  async leave(): Promise<void> {
    assert.equal(await soon("shutdown", this.connection.sendRequest(ShutdownRequest.type)), null);
    await this.connection.sendNotification(ExitNotification.type);
    await soon("the connection's end after exit", this.closed);
  }

  private hear(proposal: Proposal): void {
    this.told.push(proposal);
    this.waiting = this.waiting.filter((w) => {
      if (!w.wanted(proposal)) {
        return true;
      }
      w.resolve(proposal);
      return false;
    });
  }
}

export function initializeParams(loom: LoomOptions | undefined, positionEncodings?: string[]): InitializeParams {
  return {
    processId: process.pid,
    clientInfo: { name: "client test", version: "1" },
    rootUri: null,
    workspaceFolders: null,
    capabilities: positionEncodings === undefined ? {} : { general: { positionEncodings } },
    ...(loom === undefined ? {} : { initializationOptions: { loom } }),
  };
}

/** The error response that the request must end with. */
export async function refused(what: string, request: Promise<unknown>): Promise<ResponseError<ErrorData>> {
  let result: unknown;
  try {
    result = await soon(what, request);
  } catch (err) {
    assert.ok(err instanceof ResponseError, `${what}: not an error response: ${String(err)}`);
    return err as ResponseError<ErrorData>;
  }
  assert.fail(`${what} was not refused: ${JSON.stringify(result)}`);
}
