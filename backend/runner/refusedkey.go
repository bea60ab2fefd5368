package runner

import "loop/backend/core"

// keyRefused is what a run ends with whose key the model does not take; status is “ (401)”
// or empty.
func keyRefused(status string) *core.Failure {
	return core.Fail(core.CodeModelAuth, nil, "The model's API refused the credentials"+status+".",
		"Check the API key or token in the settings; if it is right, check that it may use this model.")
}

// endIfRefused ends the run when the model has refused its key. The CLI would ask again
// and again, for minutes, with the same key. Without one of Loop's it may have a login of
// its own, which it renews after the first refusal.
func (w *work) endIfRefused(times int) {
	keyed := w.run.Demo || w.launched && (w.launch.OAuthToken != "" || w.launch.APIKey != "")
	if times > 1 || times == 1 && keyed {
		w.cancel(keyRefused(" (401)"))
	}
}
