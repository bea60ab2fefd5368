// The data of a terminal's panel, and how they are kept between visits.
import type { ChannelID, TerminalCreate, TerminalID, TerminalTarget } from "../../api/types";
import type { Codec } from "../dock/stored";

/** Stored layouts name the panel by this word, which therefore never changes. */
export const TERMINAL = "terminal";

/** create has the values that the session was made from. The page keeps them so that the session can be started again. */
export type TerminalData = { session: TerminalID; target: TerminalTarget; plain?: boolean; create?: TerminalCreate };

/** A program on this computer in a terminal of its own. */
export function programIn(channel: ChannelID, cmd: string[], dir: string, title: string): TerminalData {
  return { session: "", target: "host", create: { channel_id: channel, target: "host", cmd, title, ...(dir ? { dir } : {}) } };
}

const ID = /^[0-9a-f]{32}$/; // 128 bits

export const terminalCodec: Required<Codec<TerminalData>> = {
  /** Keeps no panel without a session: the session may never be made. */
  store: ({ session, target, plain }) => (session ? { session, target, plain } : null),
  load({ session, target, plain }) {
    if (typeof session !== "string" || !ID.test(session)) return undefined;
    return { session, target: target === "host" ? "host" : "agent", ...(plain === true ? { plain } : {}) };
  },
  key: (d) => d.session,
};
