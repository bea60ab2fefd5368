import { describe, expect, it } from "vitest";
import { tokens } from "./format";
import { cacheShare, contextWords, costWords, fullness, usageFacts } from "./usage";

describe("what a run used", () => {
  it("sums the models and says how much came from the cache", () => {
    const model_usage = [
      { model: "a", input_tokens: 8000, cache_read_tokens: 380_000, cache_write_tokens: 12_000, output_tokens: 9000 },
      { model: "b", input_tokens: 12_000, output_tokens: 800 },
    ];
    expect(usageFacts({ model_usage })).toEqual(["412 k tokens in, 92 % from cache", "9.8 k out"]);
    expect(usageFacts({ model_usage: [{ model: "a", input_tokens: 999, output_tokens: 1 }] })).toEqual(["999 tokens in", "1 out"]);
    expect(usageFacts({})).toEqual([]);
    expect(usageFacts({ model_usage: null })).toEqual([]);
    expect(cacheShare({})).toBe(0);
  });
  it("says how full the context is, as far as that is known", () => {
    expect(contextWords({ used_tokens: 84_000, window_tokens: 200_000 })).toBe("context 42 % full");
    expect(contextWords({ used_tokens: 84_000 })).toBe("context 84 k tokens");
    expect(contextWords(undefined)).toBe("");
    expect(fullness({ used_tokens: 9, window_tokens: 3 })).toBe(100);
    expect(fullness({ used_tokens: 0, window_tokens: 3 })).toBeNull();
  });
  it("marks what is estimated, and shows no money without a price", () => {
    expect(costWords({ cost_usd: 0.47 }, false)).toBe("$0.47");
    expect(costWords({ cost_usd: 0.47, cost_estimated: true }, false)).toBe("≈ $0.47");
    expect(costWords({ cost_estimated: true }, false)).toBe("");
    expect(costWords({}, true)).toBe("no cost");
  });
  it("counts tokens in words", () => {
    expect([0, 999, 1000, 9949, 9950, 412_400, 999_500, 12_345_678].map(tokens)).toEqual(["0", "999", "1.0 k", "9.9 k", "10 k", "412 k", "1.0 M", "12.3 M"]);
  });
});
