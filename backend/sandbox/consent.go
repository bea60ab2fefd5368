package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// MaxConsentSize bounds .claude.json. The CLI keeps histories and caches in
// it, so it may be some MiB; an agent can write it, so it must have a bound.
const MaxConsentSize = 16 << 20

// MergeConsent gives the .claude.json with which the CLI starts without asking
// anything: onboarding done, unattended mode accepted, and each directory (as
// the container knows it) trusted. All other fields stay as they are. Text
// that is no JSON object is replaced; reset then says why, for a notice.
func MergeConsent(existing []byte, workDirs ...string) (merged []byte, reset string) {
	top, reset := consentObject(existing, MaxConsentSize)
	top["hasCompletedOnboarding"] = json.RawMessage("true")
	top["bypassPermissionsModeAccepted"] = json.RawMessage("true")

	projects, bad := consentObject(top["projects"], MaxConsentSize)
	if bad != "" && reset == "" {
		reset = "its list of projects was not an object and was started afresh"
	}
	for _, dir := range workDirs {
		p, bad := consentObject(projects[dir], MaxConsentSize)
		if bad != "" && reset == "" {
			reset = fmt.Sprintf("its entry for %q was not an object and was started afresh", dir)
		}
		p["hasTrustDialogAccepted"] = json.RawMessage("true")
		p["hasCompletedProjectOnboarding"] = json.RawMessage("true")
		projects[dir] = encodeObject(p)
	}
	top["projects"] = encodeObject(projects)
	return append(encodeObject(top), '\n'), reset
}

// consentObject reads one JSON object; values stay as they were written, so
// that large numbers and unknown fields survive.
func consentObject(raw []byte, limit int) (m map[string]json.RawMessage, bad string) {
	raw = bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")))
	switch {
	case len(raw) == 0:
		return map[string]json.RawMessage{}, ""
	case len(raw) > limit:
		return map[string]json.RawMessage{}, fmt.Sprintf("it was larger than %d MiB and was started afresh", limit>>20)
	}
	if err := json.Unmarshal(raw, &m); err != nil || m == nil {
		return map[string]json.RawMessage{}, "it was not a JSON object and was started afresh"
	}
	return m, ""
}

// encodeObject cannot fail: every value came out of a successful Unmarshal or
// out of this function.
func encodeObject(m map[string]json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		return json.RawMessage("{}")
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
