import { Check, ChevronDown } from "lucide-react";
import type { MouseEvent } from "react";
import type { Approval } from "../../api/types";
import type { Choice } from "../../model/gate";
import { choiceWords, isGrave, offersOf } from "../../model/gate";
import { Button, IconButton, Kbd } from "../Button";
import { keys, MOD } from "../keys";
import { Menu, MenuItem, MenuLine } from "../Menu";

type Props = { a: Approval; busy: boolean; choice: Choice; onChoice(c: Choice): void; onAnswer(e: MouseEvent, c: Choice): void };

/** All buttons weigh the same. The third one has the answers that are remembered, and its menu only chooses among them. */
export function ApprovalButtons({ a, busy, choice, onChoice, onAnswer }: Props) {
  const scopes = offersOf(a).map((o) => o.scope);
  const item = (allow: boolean) => (scope: Choice["scope"]) => (
    <MenuItem key={`${allow} ${scope}`} icon={choice.allow === allow && choice.scope === scope ? <Check size={14} aria-label="chosen" /> : <span className="approval-unchosen" />}
      name={choiceWords({ allow, scope }, a)} onSelect={() => onChoice({ allow, scope })} />
  );
  return (
    <div className="approval-buttons">
      <Button disabled={busy} onClick={(e) => onAnswer(e, { allow: false, scope: "once" })}>Deny <Kbd>Esc</Kbd></Button>
      <Button disabled={busy} onClick={(e) => onAnswer(e, { allow: true, scope: "once" })}>Allow once <Kbd>{keys(MOD, "↵")}</Kbd></Button>
      {scopes.length > 0 && (
        <span className="approval-split">
          <Button disabled={busy} onClick={(e) => onAnswer(e, choice)}>{choiceWords(choice, a)}</Button>
          <Menu align="end" button={<IconButton name="Other answers that are remembered" data-quiet disabled={busy}><ChevronDown size={14} /></IconButton>}>
            {scopes.map(item(true))}
            <MenuLine />
            {scopes.map(item(false))}
          </Menu>
        </span>
      )}
      {isGrave(a) && <span className="approval-never">An answer to this is never remembered</span>}
    </div>
  );
}
