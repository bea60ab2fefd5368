import type { Usage } from "../../../api/types";
import { modelName } from "../../../model/format";
import { visible } from "../../../model/text";
import { allInput, amount, cacheShare } from "../../../model/usage";

const exactly = (n: number | undefined) => (n ?? 0).toLocaleString("en");

const ESTIMATED = "≈ The agent did not say what all of this cost. Loop estimated the rest from its tokens, at the last known prices.";
const UNPRICED = "The agent did not say what this cost, and Loop knows no price of the model yet.";

/** The tokens and cost of each model, with exact numbers. */
export function UsageTable({ usage }: { usage: Usage }) {
  const models = usage.model_usage ?? [];
  return (
    <div className="usage" tabIndex={0} role="group" aria-label="Usage by model">
      <table className="tnum selectable">
        <thead>
          <tr>
            <th scope="col">Model</th>
            <th scope="col">Tokens in</th>
            <th scope="col">From cache</th>
            <th scope="col">To cache</th>
            <th scope="col">Tokens out</th>
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          {models.map((m) => (
            <tr key={m.model}>
              <th scope="row" title={visible(m.model)}>{modelName(visible(m.model))}</th>
              <td>{exactly(allInput(m))}</td>
              <td>
                {exactly(m.cache_read_tokens)} ({cacheShare(m)} %)
              </td>
              <td>{exactly(m.cache_write_tokens)}</td>
              <td>{exactly(m.output_tokens)}</td>
              <td>{m.cost_usd ? amount(m.cost_usd, usage.cost_estimated) : "unknown"}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {usage.context?.window_tokens && (
        <p>
          Context: {exactly(usage.context.used_tokens)} of {exactly(usage.context.window_tokens)} tokens at the last message.
        </p>
      )}
      {usage.cost_estimated && <p>{usage.cost_usd ? ESTIMATED : UNPRICED}</p>}
    </div>
  );
}
