import { CircleAlert, Info, X } from "lucide-react";
import { useEffect } from "react";
import { createPortal } from "react-dom";
import { useStore } from "zustand";
import { failureText } from "../api/failure";
import type { ToastAction } from "../model/stores";
import { viewStore } from "../model/stores";
import { Button, IconButton } from "../ui/Button";
import { CopyIcon } from "../ui/CopyButton";

const ACTION_MS = 12_000; // time to read, decide and reach the button
const SHOWN_MS = 5000; // a failure stays until the person closes it

function act(action: ToastAction | undefined) {
  viewStore.setState({ toast: null });
  action?.run();
}

export function Toast() {
  const t = useStore(viewStore, (v) => v.toast);
  useEffect(() => {
    if (!t || t.tone === "fail") return;
    const timer = setTimeout(() => viewStore.setState({ toast: null }), t.action ? ACTION_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, [t]);
  // The message is outside of the page's root, which a dialog makes inert. So it can always be read and closed.
  return createPortal(
    <div role="status" aria-live="polite">
      {t && (
        <div className="toast" data-over>
          {t.tone === "fail" ? <CircleAlert size={15} color="var(--fail)" aria-hidden /> : <Info size={15} color="var(--accent)" aria-hidden />}
          <div className="selectable">
            <p>{t.text}</p>
            {t.failure?.remedy && <p>{t.failure.remedy}</p>}
          </div>
          {t.action && <Button look="small" onClick={() => act(t.action)}>{t.action.name}</Button>}
          {t.failure && <CopyIcon name="Copy details" text={failureText(t.failure)} />}
          <IconButton small name="Close" onClick={() => viewStore.setState({ toast: null })}>
            <X size={13} />
          </IconButton>
        </div>
      )}
    </div>,
    document.body,
  );
}
