import { ShieldQuestion } from "lucide-react";
import { useState } from "react";
import { toFailure } from "../../api/failure";
import type { Failure } from "../../api/types";
import type { SettingsPending, SettingsView } from "../../api/types";
import { visible } from "../../model/text";
import { isToolchain } from "../../model/toolchain";
import { CHANGED, useDeciding } from "../../ui/approval/useInert";
import { Button } from "../../ui/Button";
import { Diff } from "../../ui/Diff";
import { FailureCard } from "../../ui/FailureCard";
import { session } from "../../session/session";

type Props = { pending: SettingsPending; channel: string; onChange(view: SettingsView): void };

/**
 * Asks about a project's file whose settings reach beyond its container, or about its image. An approval is
 * for exactly this text: after any change Loop asks again, and the buttons wait a moment.
 */
export function TrustCard({ pending, channel, onChange }: Props) {
  const [busy, setBusy] = useState(false);
  const [later, setLater] = useState(""); // the text that was put off
  const [failure, setFailure] = useState<Failure | null>(null);
  const fields = pending.fields ?? [];
  const image = isToolchain(fields);
  const { deaf, changed, clicked, handlers } = useDeciding(pending.sha256);
  if (later === pending.sha256) return null;
  const decide = (how: "approve" | "decline") => {
    setBusy(true);
    setFailure(null);
    session().api.settings[how](channel, pending.path, pending.sha256).then(onChange, (err: unknown) => setFailure(toFailure(err))).finally(() => setBusy(false));
  };
  return (
    <section className="trust" aria-label="Settings that wait for approval" data-deaf={deaf || undefined} {...handlers}>
      <h3>
        <ShieldQuestion size={15} aria-hidden />{" "}
        {image ? "The project brings an image of its own" : "The project's settings want more than a project may have by itself"}
      </h3>
      <p>
        An agent can write <span className="mono selectable">{visible(pending.path)}</span>.{" "}
        {image ? (
          "Runs wait until you have decided on it. Its build gets what is shown, and runs as root, with a network and outside of the gate."
        ) : (
          <>
            Until you approve it as it is, runs go without{" "}
            {fields.map((f, i) => (
              <span key={f}>
                {i > 0 && ", "}
                <span className="mono">{visible(f)}</span>
              </span>
            ))}
            .
          </>
        )}
      </p>
      {changed && <p className="trust-changed" role="status">{CHANGED}</p>}
      <Diff patch={pending.diff} name="What would be approved" />
      {failure && <FailureCard failure={failure} />}
      <div className="trust-foot">
        <span className="grow" />
        <Button onClick={() => setLater(pending.sha256)}>Not now</Button>
        {image && <Button disabled={busy} onClick={(e) => clicked(e, () => decide("decline"))}>Work without it</Button>}
        <Button disabled={busy} onClick={(e) => clicked(e, () => decide("approve"))}>Approve this text</Button>
      </div>
    </section>
  );
}
