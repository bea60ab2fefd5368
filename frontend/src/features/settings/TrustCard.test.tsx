// What the card of a project's settings says, drawn without a browser.
import "../../test/browser";
import { renderToString } from "react-dom/server";
import { expect, it } from "vitest";
import { TrustCard } from "./TrustCard";

const pending = { path: "/p/.loop/config.jsonc", sha256: "ab12", fields: ["mounts"], diff: "@@ -0,0 +1 @@\n+a\n" };

it("takes no answer in the moment in which its text appears, and calls it changed only where it was another", () => {
  const html = renderToString(<TrustCard pending={pending} channel="c" onChange={() => undefined} />);
  expect(/<section[^>]*>/.exec(html)?.[0]).toContain("data-deaf");
  expect(html).not.toContain("has changed since");
});
