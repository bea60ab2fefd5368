import { CodeText } from "./CodeText";
import { useHighlight } from "./useHighlight";
import "./codelines.css";

type Props = { lines: readonly string[]; first: number; shown: number; lang: string; name: string };

/** Code with the numbers of its lines, the first of them given. Of all lines, which are coloured together, some are shown. */
export function CodeLines({ lines, first, shown, lang, name }: Props) {
  const tokens = useHighlight(lines.join("\n"), lang);
  return (
    <div className="codelines selectable" role="group" aria-label={name}>
      <table>
        <tbody>
          {lines.slice(0, shown).map((l, i) => (
            <tr key={i}>
              <td className="codelines-no tnum">{first + i}</td>
              <td className="codelines-text"><CodeText text={l || " "} tokens={l ? tokens?.[i] : undefined} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
