// An image among the files: the agent is shown it as an image.

import assert from "node:assert/strict";
import { toolsCallRequest } from "../src/protocol.gen";
import type { Client } from "./client";
import { soon } from "./daemon";

/** A PNG of one red pixel; its place is under a name that says otherwise. */
export const dot = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC",
  "base64",
);

interface ReadImage {
  path: string;
  mime_type: string;
  width: number;
  height: number;
  scaled: boolean;
  image_block: { bytes: number; exact: boolean };
}

export async function showsAnImage(agent: Client): Promise<void> {
  const outcome = await soon(
    "read_file of an image",
    agent.connection.sendRequest(toolsCallRequest, { name: "read_file", arguments: { path: "dot.txt" } }),
  );
  assert.equal(outcome.isError, false, JSON.stringify(outcome.structuredContent));
  const { path, mime_type, width, height, scaled, image_block } = outcome.structuredContent as ReadImage;
  assert.deepEqual({ path, mime_type, width, height, scaled }, { path: "dot.txt", mime_type: "image/png", width: 1, height: 1, scaled: false });
  assert.equal(image_block.exact, true);
  const [text, image, ...more] = outcome.content;
  assert.deepEqual(more, []);
  assert.deepEqual(JSON.parse(text?.text ?? ""), outcome.structuredContent);
  assert.deepEqual(image, { type: "image", data: dot.toString("base64"), mimeType: "image/png" });
}
