import { Scissors } from "lucide-react";

/** The note below a text that the agent could not finish. */
export function CutOff() {
  return (
    <p className="cut-off">
      <Scissors size={12} aria-hidden /> Cut off here
    </p>
  );
}
