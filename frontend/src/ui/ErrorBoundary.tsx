import type { ReactNode } from "react";
import { Component } from "react";
import type { Failure } from "../api/types";
import { Button } from "./Button";
import { FailureCard } from "./FailureCard";

type Props = { what: string; children: ReactNode; onError?(): void };

/** Shows a failure in the place of a part of the page that broke. The rest of the page goes on. */
export class ErrorBoundary extends Component<Props, { failure: Failure | null }> {
  override state = { failure: null as Failure | null };

  static getDerivedStateFromError(err: unknown) {
    const detail = err instanceof Error ? `${err.message}\n${err.stack ?? ""}` : String(err);
    return { failure: { code: "page", cause: "This part of the page broke.", remedy: "Show it again; if it repeats, copy the details into a report.", detail } };
  }

  override componentDidCatch() {
    this.props.onError?.();
  }

  override render() {
    const { failure } = this.state;
    if (!failure) return this.props.children;
    return (
      <div className="broken" role="group" aria-label={this.props.what}>
        <FailureCard failure={failure}>
          <Button look="small" onClick={() => this.setState({ failure: null })}>Show it again</Button>
        </FailureCard>
      </div>
    );
  }
}
