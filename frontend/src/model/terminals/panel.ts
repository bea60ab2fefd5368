// What a terminal's panel shows, and how that is kept between visits.
import type { TerminalCreate, TerminalID, TerminalTarget } from "../../api/types";
import type { Codec } from "../dock/stored";

/** create is what the session was made from. It is kept until the page goes: the session can be started again. */
export type TerminalData = { session: TerminalID; target: TerminalTarget; plain?: boolean; create?: TerminalCreate };

const ID = /^[0-9a-f]{32}$/; // 128 bits

export const terminalCodec: Required<Codec<TerminalData>> = {
  /** A session that is not made yet may never be. */
  store: ({ session, target, plain }) => (session ? { session, target, plain } : null),
  load({ session, target, plain }) {
    if (typeof session !== "string" || !ID.test(session)) return null;
    return { session, target: target === "host" ? "host" : "agent", ...(plain === true ? { plain } : {}) };
  },
  key: (d) => d.session,
};
