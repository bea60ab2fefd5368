import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { onNewDay } from "./useNow";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("sees the new day after a sleep over midnight, once", () => {
  vi.setSystemTime(new Date(2026, 0, 1, 22, 0));
  const changed = vi.fn();
  const stop = onNewDay(changed);
  vi.advanceTimersByTime(600_000);
  expect(changed).not.toHaveBeenCalled();
  vi.setSystemTime(new Date(2026, 0, 2, 9, 0)); // the timers stood still meanwhile
  vi.advanceTimersByTime(600_000);
  expect(changed).toHaveBeenCalledTimes(1);
  stop();
  vi.setSystemTime(new Date(2026, 0, 3, 9, 0));
  vi.advanceTimersByTime(600_000);
  expect(changed).toHaveBeenCalledTimes(1);
});
