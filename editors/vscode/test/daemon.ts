// A real daemon under test, with its workspace and all of its state in a
// temporary folder.

import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import { watch } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import {
  createProtocolConnection,
  type ProtocolConnection,
  SocketMessageReader,
  SocketMessageWriter,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver-protocol/node";
import type { StatusResult } from "../src/protocol.gen";

/** How long anything may take before the test says what it waited for. */
const patience = 30_000;

/** Resolves as the promise does, or fails by saying what did not happen. */
export async function soon<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${patience / 1000} s for ${what}`)), patience);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The binary under test. */
export function binary(): string {
  const path = process.env["LOOMD"];
  if (path === undefined || path === "") {
    throw new Error("set LOOMD to the path of a built loomd, for example LOOMD=$PWD/loomd npm test");
  }
  return resolve(path);
}

export type Transport = "socket" | "stdio";

export class Daemon {
  private stderr = "";
  private state = "running";
  /** How the process ended: "status 0", "signal SIGKILL", or why it did not start. */
  readonly ended: Promise<string>;

  private constructor(
    private readonly dir: string,
    private readonly root: string,
    private readonly env: NodeJS.ProcessEnv,
    private readonly process: ChildProcessWithoutNullStreams,
    private socket: string | undefined,
  ) {
    process.stderr.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.ended = new Promise((settle) => {
      process.once("error", (err) => settle(`not started: ${err.message}`));
      process.once("close", (code, signal) => settle(signal === null ? `status ${code}` : `signal ${signal}`));
    });
    void this.ended.then((how) => (this.state = how));
  }

  /** Starts a daemon that serves a new folder with the files, by name and content. */
  static async start(transport: Transport, files: Record<string, string | Uint8Array>): Promise<Daemon> {
    const loomd = binary();
    // Short, because a socket's path may have about 100 bytes.
    const dir = await realpath(await mkdtemp(join(tmpdir(), "loomd-")));
    const root = join(dir, "work");
    const env: NodeJS.ProcessEnv = { PATH: process.env["PATH"], TMPDIR: dir };
    const folders = { HOME: "home", XDG_STATE_HOME: "state", XDG_RUNTIME_DIR: "run", XDG_CONFIG_HOME: "config" };
    for (const [variable, name] of Object.entries(folders)) {
      env[variable] = join(dir, name);
      await mkdir(join(dir, name), { mode: 0o700 });
    }
    await mkdir(root);
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(root, name), text);
    }
    const socket = transport === "socket" ? join(dir, "run", "test.sock") : undefined;
    const how = socket === undefined ? ["--stdio"] : ["--socket", socket];
    const child = spawn(loomd, ["serve", "--root", root, ...how], { cwd: dir, env });
    return new Daemon(dir, root, env, child, socket);
  }

  /** The text of a file of the workspace as it is on disk. */
  read(name: string): Promise<string> {
    return readFile(join(this.root, name), "utf8");
  }

  /** The URI by which an editor names a file of the workspace. */
  uri(name: string): string {
    return new URL(`file://${join(this.root, name)}`).href;
  }

  /** The connection over the daemon's stdin and stdout. */
  overStdio(): ProtocolConnection {
    return createProtocolConnection(
      new StreamMessageReader(this.process.stdout),
      new StreamMessageWriter(this.process.stdin),
    );
  }

  /** A new connection over the daemon's socket; waits until the daemon listens. */
  async overSocket(): Promise<ProtocolConnection> {
    this.socket ??= (await this.status()).socket;
    const socket = await soon(`loomd to listen on ${this.socket}`, this.dial(this.socket));
    return createProtocolConnection(new SocketMessageReader(socket), new SocketMessageWriter(socket));
  }

  /** What `loomd status --json` says. */
  status(): Promise<StatusResult> {
    return new Promise((settle, reject) => {
      execFile(binary(), ["status", "--root", this.root, "--json"], { env: this.env }, (err, stdout, stderr) => {
        if (err !== null) {
          reject(new Error(`loomd status: ${err.message}\n${stderr}`));
          return;
        }
        settle(JSON.parse(stdout) as StatusResult);
      });
    });
  }

  /** What a failed test wants to know of the process. */
  describe(): string {
    return `loomd: ${this.state}; its stderr: ${this.stderr || "(empty)"}`;
  }

  /** Asks the process to end. */
  terminate(): void {
    this.process.kill("SIGTERM");
  }

  /** Ends the process if it still runs, and removes all that it left. */
  async dispose(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.ended;
    await rm(this.dir, { recursive: true, force: true });
  }

  private async dial(path: string): Promise<Socket> {
    const gone = this.ended.then((how) => {
      throw new Error(`loomd ended before it listened: ${how}`);
    });
    gone.catch(() => undefined);
    // Watched before the first try, so that no change falls between the two.
    const changes = watch(dirname(path));
    try {
      for (;;) {
        const changed = new Promise((settle) => changes.once("change", settle));
        const result = await dialOnce(path);
        if (typeof result !== "string") {
          return result;
        }
        if (result === "ENOENT") {
          await Promise.race([changed, gone]);
        } else {
          // The file is there but nobody listens yet. Nothing tells when that
          // ends, so it is tried again at once, one turn of the loop later.
          await Promise.race([new Promise((settle) => setImmediate(settle)), gone]);
        }
      }
    } finally {
      changes.close();
    }
  }
}

/** A connected socket, or the code of the error when nobody listens. */
function dialOnce(path: string): Promise<Socket | string> {
  return new Promise((settle, reject) => {
    const socket = connect(path);
    socket.once("connect", () => settle(socket));
    socket.once("error", (err: NodeJS.ErrnoException) => {
      if (err.code === "ENOENT" || err.code === "ECONNREFUSED") {
        settle(err.code);
      } else {
        reject(err);
      }
    });
  });
}
