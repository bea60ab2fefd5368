import { describe, expect, it } from "vitest";
import type { ImageStatus } from "../api/types";
import { imageTrouble, imageWord, missingImage } from "./image";

const own: ImageStatus = { state: "missing", ref: "loop-agent:latest" };
const theirs: ImageStatus = { state: "missing", ref: "mine:1", theirs: true, note: "The first run pulls it, which may take some minutes." };
const failure = { code: "image_missing", cause: "Sandbox image not found: mine:1.", remedy: "“docker pull mine:1” gets it." };

describe("an image that is missing", () => {
  it("is built by the first run, or comes from elsewhere", () => {
    expect(missingImage(own).remedy).toContain("builds it");
    expect(missingImage(theirs)).toEqual({ cause: "The image mine:1 is not there yet.", remedy: theirs.note });
    expect(missingImage({ ...theirs, failure })).toEqual({ cause: failure.cause, remedy: failure.remedy });
  });
  it("has words of its own where Loop does not build it", () => {
    expect([own, theirs, { ...theirs, state: "ready" as const }].map(imageWord)).toEqual(["Not built yet", "Not there yet", "Ready"]);
    expect([own, { ...own, failure }, { ...theirs, failure }, { ...own, state: "stale" as const }].map(imageTrouble))
      .toEqual(["no agent image yet", "image build failed", "image is not there", "agent image is out of date"]);
  });
});
