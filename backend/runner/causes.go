package runner

import (
	"fmt"
	"slices"
	"strings"

	"loop/backend/core"
	"loop/backend/runner/transcript"
)

// resultFailure explains a result that says the try failed. What trying again
// cannot help (limits, billing, credentials, a full disk) is looked for first:
// the words of the others occur in them too.
func resultFailure(r *transcript.Result, refused *transcript.APIError, detail string) (*core.Failure, because) {
	text := r.Text
	if text == "" {
		text = strings.Join(r.Errors, "\n")
	}
	kind := ""
	if refused != nil {
		kind = refused.Kind
	}
	low := strings.ToLower(text)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(low, w) })
	}
	status := ""
	if r.APIErrorStatus > 0 {
		status = fmt.Sprintf(" (%d)", r.APIErrorStatus)
	}
	var f *core.Failure
	why := becauseEnd
	switch {
	case has("not logged in", "please run /login"):
		f = core.Fail(core.CodeCredentials, nil, "The agent has no credentials for the model.",
			"Set an Anthropic API key or a Claude Code token in the settings, or use the demo channel.")
	case r.APIErrorStatus == 401, r.APIErrorStatus == 403, kind == "authentication_failed", has("invalid api key", "token has expired", "token revoked"):
		f = core.Fail(core.CodeModelAuth, nil, "The model's API refused the credentials"+status+".",
			"Check the API key or token in the settings; if it is right, check that it may use this model.")
	case kind == "billing_error", has("credit balance", "billing", "payment"):
		f = core.Fail(core.CodeModelLimit, nil, "The account behind the credentials has no credit left.",
			"Add credit to the account, or set other credentials in the settings.")
	case limitWords(low):
		f = core.Fail(core.CodeModelLimit, nil, "The usage limit of the plan is reached.",
			"Wait until the limit is reset, or set other credentials in the settings.")
	case diskText(low):
		f = diskFull("")
	case r.APIErrorStatus == 429, kind == "rate_limit", has("(429)"):
		why = becauseBusy
		f = core.Fail(core.CodeModelLimit, nil, "The model's API limits the rate of requests"+status+".",
			"Wait a minute and try again.")
	case r.APIErrorStatus == 529, kind == "overloaded", has("overloaded"):
		why = becauseBusy
		f = core.Fail(core.CodeModelOverloaded, nil, "The model is overloaded"+status+".", "Wait a few minutes and try again.")
	case r.TerminalReason == "prompt_too_long", has("prompt is too long"):
		why = becauseTooLong
		f = core.Fail(core.CodeModel, nil, "The conversation has become too long for the model.",
			"Send /compact as a prompt, or go on in a new channel.")
	case has("no conversation found"):
		why = becauseLost
		f = core.Fail(core.CodeModel, nil, "The agent does not have the earlier conversation any more.",
			"Send the prompt again; it starts a new conversation.")
	case r.APIErrorStatus >= 500:
		why = becauseBusy
		f = core.Fail(core.CodeModel, nil, "The model's API failed"+status+".", "Try again in a few minutes.")
	case r.APIErrorStatus > 0:
		why = becauseOther
		f = core.Fail(core.CodeModel, nil, "The model's API refused the request"+status+".", "Look at the details; another model or a shorter prompt may help.")
	case has("ssl certificate", "self-signed certificate", "ssl error"):
		f = core.Fail(core.CodeModel, nil, "The certificate of the model's address is not trusted.",
			"If a proxy looks into connections, name its certificate in extra_ca_files; otherwise check anthropic_base_url and this computer's clock.")
	case has("can't reach the api", "no internet route", "connection refused", "connect through your proxy"):
		why = becauseBusy
		f = core.Fail(core.CodeModel, nil, "The model could not be reached.",
			"Check the network, the proxy and anthropic_base_url in the settings, then try again.")
	case has("malformed response", "connection error", "connection dropped", "unable to connect", "fetch failed", "socket hang up", "econnre", "stream", "terminated", "timed out"):
		why = becauseBusy
		f = core.Fail(core.CodeModel, nil, "The connection to the model broke off.",
			"Check the network and anthropic_base_url in the settings, then try again.")
	case r.Subtype == "error_max_turns":
		f = core.Fail(core.CodeModel, nil, "The agent stopped at its limit of turns.", "Send a prompt such as “go on” to let it continue.")
	default:
		why = becauseOther
		f = core.Fail(core.CodeModel, nil, "The agent reported an error.", "Look at the details and try again.")
	}
	if text != "" && !strings.Contains(detail, text) {
		detail = strings.TrimSpace(text + "\n" + detail)
	}
	return withDetail(f, detail), why
}

func noResultFailure(e ending, p *transcript.Parser, detail string) (*core.Failure, because) {
	code := 0
	switch {
	case e.exit != nil:
		code = e.exit.Code
	case e.facts != nil:
		code = e.facts.ExitCode
	}
	var f *core.Failure
	why := becauseEnd
	switch {
	case e.facts != nil && e.facts.OOMKilled:
		f = core.Fail(core.CodeOutOfMemory, nil, "The container ran out of memory and the agent was killed.",
			"Raise container_memory_mb in the settings, or ask for less at once.")
	case diskText(strings.ToLower(detail)):
		f = diskFull("")
	case code == 137:
		f = core.Fail(core.CodeKilled, nil, "The agent was killed (exit code 137) without a result.",
			"If you did not stop its container, memory was probably short: raise container_memory_mb in the settings and check that the disk is not full.")
	case code == 126, code == 127:
		f = core.Fail(core.CodeNoResult, nil, fmt.Sprintf("The agent could not be started in the container (exit code %d).", code),
			"Check claude_bin_path in the settings, or build the agent image again.")
	case e.gone && e.exit == nil:
		f = core.Fail(core.CodeKilled, nil, "The container ended before the agent had given a result.",
			"Send the prompt again; everything the agent did until then is in the timeline and in the folder.")
	case p.Lines() == 0 && p.Garbage() == "" && e.stderr == "":
		why = becauseOther
		f = core.Fail(core.CodeNoResult, nil, fmt.Sprintf("The agent ended without printing anything (exit code %d).", code),
			"Try again; if it repeats, build the agent image again.")
	default:
		why = becauseOther
		f = core.Fail(core.CodeNoResult, nil, fmt.Sprintf("The agent ended without a result (exit code %d).", code),
			"Look at what it printed in the details, and try again.")
	}
	return withDetail(f, detail), why
}
