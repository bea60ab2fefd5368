import { afterEach, expect, test, vi } from "vitest";

const warmed = vi.fn<(id: string) => Promise<void>>(() => Promise.resolve());
vi.mock("./session", () => ({ session: () => ({ api: { containers: { warm: warmed } } }) }));

const { warm } = await import("./warm");

afterEach(() => warmed.mockClear());

test("a prompt is announced once a minute, for each channel", () => {
  warm("a", 0);
  warm("a", 59_999);
  warm("b", 100);
  expect(warmed.mock.calls).toEqual([["a"], ["b"]]);
  warm("a", 60_000);
  expect(warmed).toHaveBeenCalledTimes(3);
});

test("what could not be said is said with the next letter", async () => {
  warmed.mockReturnValueOnce(Promise.reject(new Error("offline")));
  warm("c", 0);
  await Promise.resolve();
  await Promise.resolve();
  warm("c", 1);
  expect(warmed).toHaveBeenCalledTimes(2);
});
