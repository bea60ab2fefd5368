// npm run mock -- [scenario] [port]: a pretend Loop to work on the page with.
import { startMock } from "./server.mjs";

const mock = await startMock({ scenario: process.argv[2] ?? "work", port: Number(process.argv[3] ?? 0) });
console.log(`Loop (pretend) is ready: ${mock.url}`);
