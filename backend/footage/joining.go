package footage

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"loop/backend/core"
)

// callKey stands for what an act asks for. A tool call of an agent and the request that
// comes of it have the same: fields that say nothing are in neither.
func callKey(action string, params json.RawMessage) string {
	var fields map[string]any
	said := []byte(params)
	if json.Unmarshal(params, &fields) == nil {
		for name, v := range fields {
			if v == nil || v == "" || v == false || v == float64(0) {
				delete(fields, name)
			}
		}
		if b, err := json.Marshal(fields); err == nil && len(fields) > 0 {
			said = b // in the order of the names
		} else {
			said = nil
		}
	}
	h := sha256.New()
	h.Write([]byte(action + "\x00"))
	h.Write(said)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// join gives frames of acts the tool calls that led to them, as the gate does with what
// it has held: by what is known for sure. Here that is the tool and all that it was
// given, and that a call which had its result before an act began did not lead to it.
// Where several fit, the first that has no frame does. It is made anew at each reading,
// because the agent CLI may tell of a call after its act has ended.
func join(list []core.StoredFrame, calls []core.BrowserCall) []core.KeptFrame {
	keys := make([]string, len(calls))
	for i, c := range calls {
		keys[i] = callKey(c.Action, c.Input)
	}
	acts := make([]int, 0, len(list))
	for i, f := range list {
		if f.Kind == core.FrameAct {
			acts = append(acts, i)
		}
	}
	slices.SortStableFunc(acts, func(a, b int) int { return list[a].Began.Compare(list[b].Began) })
	out := make([]core.KeptFrame, len(list))
	for i, f := range list {
		out[i] = f.KeptFrame
		out[i].ToolUseID = ""
	}
	taken := make([]bool, len(calls))
	for _, i := range acts {
		for n, c := range calls {
			if taken[n] || keys[n] != list[i].Key || !c.Ended.IsZero() && c.Ended.Before(list[i].Began) {
				continue
			}
			taken[n] = true
			out[i].ToolUseID = c.ToolUseID
			break
		}
	}
	return out
}
