// Package runner takes prompts to the agent CLI and its output to the timeline.
//
// A prompt is stored before Prompt returns. Each channel has one drain, so its
// runs follow one another; channels run side by side up to a bound. A run goes
// image, container, link, agent, then its output is followed line by line from
// an absolute offset of the spool that loop init keeps, and stored in batches
// together with the offset reached. Whatever breaks (the link, this process),
// storing goes on at that offset: no turn is lost and none is stored twice. A later
// launch reads from the beginning, because what a run costs is of all its output.
//
// A run may take several tries, one spawn after the other in the same container:
// docs/runs.md says what follows which failure. Run.Attempt is the try that is
// due; it is stored without a spawn before the try begins and with one before the
// spawn, so that a later launch knows whether to wait, to spawn or to re-attach.
//
// AskUserQuestion and ExitPlanMode end a run: the permission tool refuses them
// with an interruption, and the CLI's result names the refused calls. The question
// is stored in the transaction of the run's end; while it is open the store hands
// out nothing of the channel's queue, and the drain waits.
//
// A result is not the end while the CLI lists background tasks, or a turn follows it:
// only when neither is left has the CLI ResultGrace to exit. What ends with a try is
// named with its end, and what was streamed of a message that never came whole is
// stored there, marked. A later launch reads the spool from its beginning for that,
// and stores from the offset on.
//
// What happens to a run when something dies:
//
//   - The link breaks: it is opened again with growing pauses; the run goes on.
//   - The engine stops answering: a notice, then the same, for EngineGrace.
//     After that the run fails as engine_lost, with every turn the spool file
//     on this host still gives; its container is stopped once the engine is back.
//   - The container dies: the rest of the spool is read from its file. If a
//     result is in it the run is done; otherwise it failed, with the reason.
//   - Loop quits or crashes: containers go on. The next start re-attaches to
//     runs whose agent lives, queues those whose agent never started, and reads
//     the spool of the dead: done if a result is there, else interrupted, once.
//   - Cancel and timeout: the process tree is ended through the link and the
//     container stopped; the run is cancelled only when the engine or loop init
//     has said that nothing of it is left.
//
// A terminal state is announced only after the container was asked to stop (or
// could not be), so who waits for a run's end finds nothing of it running.
//
// Runner is a service: its containers come from package provision, and of
// everything else it declares what it needs in core's words. It knows no adapter.
// Daemon assembles it; bind and channels use it through interfaces of their own.
package runner
