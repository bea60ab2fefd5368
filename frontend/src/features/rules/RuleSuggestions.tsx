import type { Failure, GateSuggestion } from "../../api/types";
import { suggestionWords } from "../../model/rule-draft";
import { Button, Kbd } from "../../ui/Button";
import { SafeText } from "../../ui/SafeText";

type Props = { list: GateSuggestion[] | null; failure: Failure | null; onOpen(s: GateSuggestion): void };

/** How many suggestions have a key of their own. */
export const KEYED = 9;

/** Rules for what the person was asked and has always allowed. Each opens in the editor; none is saved here. */
export function RuleSuggestions({ list, failure, onOpen }: Props) {
  return (
    <section className="rules-suggested" aria-label="Suggested rules">
      <h3>Suggested from what was decided</h3>
      {failure && <p className="rules-refused"><SafeText text={failure.cause} /> <SafeText text={failure.remedy ?? ""} /></p>}
      {list?.length === 0 && (
        <p className="rules-quiet">
          None yet. When you allow the same kind of question by hand, a rule for it stands here. To see what would be asked without being asked, set the mode to Shadow and let a run work.
        </p>
      )}
      {(list ?? []).map((s, i) => (
        <div key={s.rule} className="rules-suggestion">
          <p>{suggestionWords(s)}</p>
          <p className="rules-offer selectable"><SafeText text={s.text} /></p>
          <Button look="small" onClick={() => onOpen(s)}>Review the rule {i < KEYED && <Kbd>{i + 1}</Kbd>}</Button>
        </div>
      ))}
    </section>
  );
}
