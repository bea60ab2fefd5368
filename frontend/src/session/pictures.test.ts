import "../test/browser";
import { expect, test, vi } from "vitest";
import { picturesStore } from "../model/pictures";

const detach = vi.fn<(channel: string, id: string) => Promise<void>>(() => Promise.resolve());
vi.mock("./session", () => ({ session: () => ({ api: { files: { detach } } }) }));

const { picturesOf, removePicture, setPictures } = await import("./pictures");
const picture = (id: string) => ({ id, name: id, type: "image/png", bytes: 1, width: 1, height: 1 });
const ids = () => picturesOf(picturesStore.getState(), "a").map((p) => p.id);

test("a picture that is taken out of the draft is let go once, and one that was sent is not", async () => {
  setPictures("a", [picture("one"), picture("two")]);
  detach.mockReturnValueOnce(Promise.reject(new Error("offline")));
  removePicture("a", "one");
  removePicture("a", "one");
  removePicture("a", "none");
  await Promise.resolve();
  expect([ids(), detach.mock.calls]).toEqual([["two"], [["a", "one"]]]);
  setPictures("a", []); // it went with its prompt
  expect(detach).toHaveBeenCalledTimes(1);
});
