import type { GroupAnswer } from "../../api/types";
import type { Choice } from "../../model/gate";

/** What a card can do. Each throws a failure, which the card shows. */
export type CardActions = {
  answer(c: Choice): Promise<void>;
  answerGroups(groups: GroupAnswer[]): Promise<void>; // of a flood
  extend(): Promise<void>;
  go(back: boolean): void; // to the next one that waits
  stop?(): void; // the run
  rules?(): void; // opens the panel of rules
};
