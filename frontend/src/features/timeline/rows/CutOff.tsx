import { Scissors } from "lucide-react";

/** Under what the agent could not finish. */
export function CutOff() {
  return (
    <p className="cut-off">
      <Scissors size={12} aria-hidden /> Cut off here
    </p>
  );
}
