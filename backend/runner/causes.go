package runner

import (
	"fmt"
	"slices"
	"strings"

	"loop/backend/core"
	"loop/backend/runner/transcript"
	"loop/backend/wire"
)

// resultFailure explains a result that says the try failed. What trying again
// cannot help (limits, billing, credentials, a full disk) is looked for first:
// the words of the others occur in them too.
func resultFailure(r *transcript.Result, refused *transcript.APIError, detail string) (*core.Failure, because) {
	text, kind, status := r.Said(), "", ""
	if refused != nil {
		kind = refused.Kind
	}
	if r.APIErrorStatus > 0 {
		status = fmt.Sprintf(" (%d)", r.APIErrorStatus)
	}
	if !strings.Contains(detail, text) {
		detail = strings.TrimSpace(text + "\n" + detail)
	}
	low := strings.ToLower(text)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(low, w) })
	}
	is := func(why because, code core.Code, cause, remedy string) (*core.Failure, because) {
		return withDetail(core.Fail(code, nil, cause, remedy), detail), why
	}
	switch {
	case has("not logged in", "please run /login"):
		return is(becauseEnd, core.CodeCredentials, "The agent has no credentials for the model.",
			"Set an Anthropic API key or a Claude Code token in the settings, or use the demo channel.")
	case r.APIErrorStatus == 401, r.APIErrorStatus == 403, kind == "authentication_failed",
		has("invalid api key", "token has expired", "token revoked"):
		return withDetail(keyRefused(status), detail), becauseEnd
	case kind == "billing_error", has("credit balance", "billing", "payment"):
		return is(becauseEnd, core.CodeModelLimit, "The account behind the credentials has no credit left.",
			"Add credit to the account, or set other credentials in the settings.")
	case has("usage limit", "session limit", "weekly limit", "5-hour limit", "hit your limit", "reached your limit", "limit reached"):
		return is(becauseEnd, core.CodeModelLimit, "The usage limit of the plan is reached.",
			"Wait until the limit is reset, or set other credentials in the settings.")
	case diskText(low):
		return withDetail(diskFull(), detail), becauseEnd
	case r.APIErrorStatus == 429, kind == "rate_limit", has("(429)"):
		return is(becauseBusy, core.CodeModelLimit, "The model's API limits the rate of requests"+status+".",
			"Wait a minute and try again.")
	case r.APIErrorStatus == 529, kind == "overloaded", has("overloaded"):
		return is(becauseBusy, core.CodeModelOverloaded, "The model is overloaded"+status+".", "Wait a few minutes and try again.")
	case r.TerminalReason == "prompt_too_long", has("prompt is too long"):
		return is(becauseTooLong, core.CodeModel, "The conversation has become too long for the model.",
			"Send /compact as a prompt, or go on in a new channel.")
	case has(noConversation):
		return is(becauseLost, core.CodeModel, "The agent does not have the earlier conversation any more.",
			"Send the prompt again; it starts a new conversation.")
	case r.APIErrorStatus >= 500:
		return is(becauseBusy, core.CodeModel, "The model's API failed"+status+".", "Try again in a few minutes.")
	case r.APIErrorStatus > 0:
		return is(becauseOther, core.CodeModel, "The model's API refused the request"+status+".",
			"Look at the details; another model or a shorter prompt may help.")
	case has("ssl certificate", "self-signed certificate", "ssl error"):
		return is(becauseEnd, core.CodeModel, "The certificate of the model's address is not trusted.",
			"If a proxy looks into connections, name its certificate in extra_ca_files; "+
				"otherwise check anthropic_base_url and this computer's clock.")
	case has("can't reach the api", "no internet route", "connection refused", "connect through your proxy"):
		return is(becauseBusy, core.CodeModel, "The model could not be reached.",
			"Check the network, the proxy and anthropic_base_url in the settings, then try again.")
	case has("malformed response", "connection error", "connection dropped", "unable to connect", "fetch failed", "socket hang up",
		"econnre", "stream", "terminated", "timed out"):
		return is(becauseBusy, core.CodeModel, "The connection to the model broke off.",
			"Check the network and anthropic_base_url in the settings, then try again.")
	case r.Subtype == "error_max_turns":
		return is(becauseEnd, core.CodeModel, "The agent stopped at its limit of turns.",
			"Send a prompt such as “go on” to let it continue.")
	}
	return is(becauseOther, core.CodeModel, "The agent reported an error.", "Look at the details and try again.")
}

// noConversation is what the CLI says when the session to resume does not exist.
const noConversation = "no conversation found"

// noResultFailure explains a try without a result.
func noResultFailure(e ending, p *transcript.Parser, detail string) (*core.Failure, because) {
	code := 0
	switch {
	case e.exit != nil:
		code = e.exit.Code
	case e.facts != nil:
		code = e.facts.ExitCode
	}
	is := func(why because, failure core.Code, cause, remedy string) (*core.Failure, because) {
		return withDetail(core.Fail(failure, nil, cause, remedy), detail), why
	}
	switch {
	case e.facts != nil && e.facts.OOMKilled:
		return is(becauseEnd, core.CodeOutOfMemory, "The container ran out of memory and the agent was killed.",
			"Raise container_memory_mb in the settings, or ask for less at once.")
	case diskText(strings.ToLower(detail)):
		return withDetail(diskFull(), detail), becauseEnd
	case code == 137:
		return is(becauseEnd, core.CodeKilled, "The agent was killed (exit code 137) without a result.",
			"If you did not stop its container, memory was probably short: raise container_memory_mb in the settings "+
				"and check that the disk is not full.")
	case e.exit == nil && code == wire.ExitUnsupervised:
		return is(becauseEnd, core.CodeKilled,
			"The gate's supervisor in the container was ended or stopped from outside, so the container was closed.",
			"Nothing can be held without it. Work that was done stays. Send the prompt again, and see what ends or stops "+
				"processes of the container if it repeats.")
	case code == 126, code == 127:
		return is(becauseEnd, core.CodeNoResult, fmt.Sprintf("The agent could not be started in the container (exit code %d).", code),
			"Check claude_bin_path in the settings, or build the agent image again.")
	case e.gone && e.exit == nil:
		return is(becauseEnd, core.CodeKilled, "The container ended before the agent had given a result.", workStays)
	case p.Lines == 0 && p.Garbage == "" && e.stderr == "":
		return is(becauseOther, core.CodeNoResult, fmt.Sprintf("The agent ended without printing anything (exit code %d).", code),
			"Try again; if it repeats, build the agent image again.")
	}
	return is(becauseOther, core.CodeNoResult, fmt.Sprintf("The agent ended without a result (exit code %d).", code),
		"Look at what it printed in the details, and try again.")
}
