import { CircleAlert, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { useState } from "react";
import { failureText } from "../api/failure";
import type { Failure } from "../api/types";
import { Button } from "./Button";
import { CopyButton } from "./CopyButton";
import { SafeText } from "./SafeText";

/** A failure: its cause, its remedy, its detail to copy, and buttons that may help. */
export function FailureCard({ failure, quiet, children }: { failure: Failure; quiet?: boolean; children?: ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <div className={`failure selectable ${quiet ? "quiet" : ""}`}>
      <p className="failure-cause">
        {quiet ? <TriangleAlert size={15} aria-hidden /> : <CircleAlert size={15} aria-hidden />}
        <span>
          <SafeText text={failure.cause} />
        </span>
      </p>
      {failure.remedy && (
        <p className="failure-remedy">
          <SafeText text={failure.remedy} />
        </p>
      )}
      {open && failure.detail && (
        <pre tabIndex={0} aria-label="Details">
          <SafeText text={failure.detail} />
        </pre>
      )}
      {(children || failure.detail) && (
        <div className="failure-foot">
          {children}
          {failure.detail && (
            <>
              <Button look="small" aria-expanded={open} onClick={() => setOpen(!open)}>
                {open ? "Hide details" : "Show details"}
              </Button>
              <CopyButton text={() => failureText(failure)}>Copy details</CopyButton>
            </>
          )}
        </div>
      )}
    </div>
  );
}
