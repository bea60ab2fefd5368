import { useEffect, useState } from "react";
import { toFailure } from "../../api/failure";
import type { ChannelID, Failure, SettingsProblem } from "../../api/types";
import type { Scope } from "../../model/settings-drafts";
import { session } from "../../session/session";

const PAUSE = 250; // after the last letter, in milliseconds

/** What Loop finds wrong with a text while it is typed. Problems of an earlier text stay until there is an answer. */
export function useCheck(scope: Scope, channel: ChannelID, text: string, on: boolean): { problems: SettingsProblem[]; failure: Failure | null } {
  const [found, setFound] = useState<{ problems: SettingsProblem[]; failure: Failure | null }>({ problems: [], failure: null });
  useEffect(() => {
    if (!on) return;
    let here = true;
    const timer = setTimeout(() => {
      session().api.settings.check(scope, channel, text).then(
        (list) => here && setFound({ problems: list ?? [], failure: null }),
        (err: unknown) => here && setFound({ problems: [], failure: toFailure(err) }),
      );
    }, PAUSE);
    return () => {
      here = false;
      clearTimeout(timer);
    };
  }, [scope, channel, text, on]);
  return found;
}
