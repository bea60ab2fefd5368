package transcript

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"loop/backend/core"
)

// quietKinds are kinds of lines of which nothing is said, and why. Kinds that are
// neither here nor have words of their own come as core.EventRaw, which the page shows
// on demand only.
var quietKinds = map[string][]string{
	"how the program that reads the lines talks to the CLI": {
		"control_request", "control_response", "control_cancel_request", "keep_alive", "system/control_request_progress",
		"system/session_state_changed", "system/commands_changed", "system/elicitation_complete",
	},
	"its own row says it": {
		"tool_use_summary", "system/permission_denied", "system/task_updated", "system/hook_started", "system/hook_progress",
	},
	"the person writes the next prompt":          {"prompt_suggestion"},
	"a copy of the conversation that Loop lacks": {"system/mirror_error"},
	"the CLI keeps it to itself, or to a screen of its own": {
		"system/agents_killed", "system/api_error", "system/away_summary", "system/bridge_state", "system/bridge_status",
		"system/checkpoint_done", "system/cloud_session_delta", "system/cloud_session_status", "system/code_change_published",
		"system/dev_intent", "system/feedback_draft_queued", "system/file_snapshot", "system/inherited_asks_settled",
		"system/late_allow_not_run", "system/memory_saved", "system/local_command", "system/peer_message_hold", "system/per_turn_effort_changed",
		"system/permission_check_status", "system/permission_retry", "system/placed", "system/post_turn_summary",
		"system/rewind_stand_in", "system/scheduled_task_fire", "system/session_metadata", "system/session_title_changed",
		"system/shell_cwd", "system/start_folder", "system/stop_hook_summary", "system/task_summary", "system/tool_host_result",
		"system/turn_began_before_init", "system/turn_duration", "system/turn_handoff_available", "system/turn_preempted",
		"system/turn_starting", "system/ui_focus", "system/ui_invalidate", "system/ui_log", "system/ui_notify",
		"system/ui_notify_cancel", "system/ui_panes", "system/ui_placed", "system/ui_scroll", "system/ui_status",
		"system/ui_toast", "system/vcs_state_changed", "system/voice_call_talk",
	},
}

var quietSet = func() map[string]bool {
	all := map[string]bool{}
	for _, kinds := range quietKinds {
		for _, k := range kinds {
			all[k] = true
		}
	}
	return all
}()

func isQuietKind(kind string) bool { return quietSet[kind] }

// said puts kinds of system lines into words that are no more than words. known is
// false for one that is not among them.
func said(w wireSystem) (items []Item, known bool) {
	say := func(level, format string, args ...any) ([]Item, bool) {
		text := strings.TrimSpace(fmt.Sprintf(format, args...))
		if text == "" {
			return nil, true
		}
		return []Item{notice(level, clipMarked(text, maxOutput))}, true
	}
	switch w.Subtype {
	case "informational":
		level := "info"
		if w.Level == "warning" {
			level = w.Level
		}
		return say(level, "%s", w.Content)
	case "notification":
		if w.Priority == "low" {
			return nil, true
		}
		return say("info", "%s", w.Text)
	case "local_command_output": // as if the agent had said it
		if w.Content == "" {
			return nil, true
		}
		return []Item{{Type: core.EventMessageCreated, Data: core.MessageCreated{
			Content: clipMarked(w.Content, maxText), IsBot: true, IsProcessed: true, UUID: clipShort(w.UUID),
		}}}, true
	case "model_refusal_fallback", "model_fallback", "model_consent_fallback":
		return say("warning", "%s", cmp.Or(w.Content,
			fmt.Sprintf("The model %s declined. %s goes on instead.", clipShort(w.Original), clipShort(w.Fallback))))
	case "model_refusal_no_fallback":
		return say("warning", "%s", cmp.Or(w.Content, fmt.Sprintf("The model %s declined.", clipShort(w.Original))))
	case "file_attachments_missing", "instruction_size_warning":
		return say("warning", "%s", w.Content)
	case "hook_response":
		if w.Outcome != "error" {
			return nil, true
		}
		return say("warning", "The hook “%s” failed (exit %d). %s", clipShort(w.Hook), count(w.ExitCode), clipShort(w.Output))
	case "plugin_install":
		if w.Status != "failed" {
			return nil, true
		}
		return say("warning", "The plugin “%s” could not be installed. %s", clipShort(w.Plugin), clipShort(w.Error))
	case "files_persisted":
		for _, f := range w.Failed[:min(len(w.Failed), 5)] {
			items = append(items, notice("warning", fmt.Sprintf("%s could not be kept: %s", clipShort(f.Name), clipShort(f.Error))))
		}
		return items, true
	case "memory_recall":
		var paths []string
		for _, m := range w.Memories[:min(len(w.Memories), 50)] {
			paths = append(paths, clipShort(m.Path))
		}
		if paths = slices.DeleteFunc(paths, func(s string) bool { return s == "" }); len(paths) == 0 {
			return nil, true
		}
		return []Item{activity("memory_recall", strings.Join(paths, "\n"), "")}, true
	case "session_writes_lost":
		return say("error", "The disk is full: the agent could not write its conversation down, so it cannot be resumed from here.")
	case "worker_shutting_down":
		return say("info", "The agent's program ends: %s.", cmp.Or(clipShort(w.Reason), "no reason given"))
	}
	return nil, false
}

// other puts kinds into words that are not of type “system”.
func (p *Parser) other(typ string, line []byte) (items []Item, known bool, err error) {
	if isQuietKind(typ) {
		return nil, true, nil
	}
	var w wireOther
	switch typ {
	case "tool_progress", "auth_status", "active_goal", "conversation_reset":
		if err := decode(line, &w); err != nil {
			return nil, false, err
		}
	default:
		return nil, false, nil
	}
	switch {
	case typ == "tool_progress": // how long a call has taken is nothing new: the page has a clock
		if call := cmp.Or(w.Parent, w.ToolUseID); w.AgentRetry != nil && call != "" {
			items = append(items, retry(w.AgentRetry.wireRetry, call))
		}
	case typ == "auth_status" && w.Error != "":
		items = append(items, notice("warning", "The agent could not sign in: "+clipMarked(w.Error, maxShort)))
	case typ == "active_goal" && w.Goal.Condition != "":
		items = append(items, activity("active_goal", w.Goal.Condition, ""))
	case typ == "conversation_reset":
		items = append(items, notice("info", "The conversation was cleared: what follows is a new one."))
	}
	return items, true, nil
}

func seconds(ms int64) time.Duration {
	return (time.Duration(ms) * time.Millisecond).Round(100 * time.Millisecond)
}
