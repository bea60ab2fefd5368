import { createStore } from "zustand/vanilla";
import type { RunID } from "../../api/types";

/** The picture that is shown large. frame 0: none is. */
export const openFrameStore = createStore<{ run: RunID; frame: number }>(() => ({ run: "", frame: 0 }));

export const openFrame = (run: RunID, frame: number) => openFrameStore.setState({ run, frame });
