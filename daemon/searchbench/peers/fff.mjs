// Answers searches with fff, one JSON object a line: {kind, pattern, fold} in,
// {millis, rows} out. The first line out is {scan, ready}: how long it took to
// know all files and until its index of contents was complete, in milliseconds.
import { createInterface } from "node:readline";
import { FileFinder } from "@ff-labs/fff-node";

const all = 10_000_000;
const begun = performance.now();
const created = FileFinder.create({ basePath: process.argv[2], disableWatch: process.argv[3] === "build" });
if (!created.ok) throw new Error(created.error);
const finder = created.value;

// Its own waitForIndexReady looks every 50 ms.
async function after(done) {
  for (;;) {
    const progress = finder.getScanProgress();
    if (!progress.ok) throw new Error(progress.error);
    if (done(progress.value)) return performance.now() - begun;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
const scan = await after((p) => !p.isScanning);
const ready = await after((p) => !p.isScanning && p.isWarmupComplete);
console.log(JSON.stringify({ scan, ready }));

function search(task) {
  if (task.kind === "list" || task.kind === "glob") {
    const found = finder.glob(task.pattern || "**/*", { pageSize: all });
    if (!found.ok) throw new Error(found.error);
    return found.value.items.length;
  }
  const options = {
    mode: "regex",
    smartCase: false,
    maxMatchesPerFile: all,
    maxFileSize: 1 << 30,
    pageSize: task.kind === "first 100" ? 100 : all,
  };
  const pattern = task.fold ? `(?i)${task.pattern}` : task.pattern;
  let cursor = null;
  let rows = 0;
  do {
    const found = finder.grep(pattern, { ...options, cursor });
    if (!found.ok) throw new Error(found.error);
    rows += found.value.items.length;
    cursor = found.value.nextCursor;
  } while (cursor && task.kind !== "first 100");
  return rows;
}

if (process.argv[3] === "build") {
  finder.destroy();
  process.exit(0);
}
for await (const line of createInterface({ input: process.stdin })) {
  const start = performance.now();
  const rows = search(JSON.parse(line));
  console.log(JSON.stringify({ millis: performance.now() - start, rows }));
}
finder.destroy();
