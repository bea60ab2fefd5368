// npm run mock -- [scenario] [port]: serves the mock of Loop for work on the page.
import { startMock } from "./server.mjs";

const mock = await startMock({ scenario: process.argv[2] ?? "work", port: Number(process.argv[3] ?? 0) });
console.log(`Loop (pretend) is ready: ${mock.url}`);
