package demo

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
)

type apiError struct {
	Type  string `json:"type"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// errorTypes are the API's names for its codes.
var errorTypes = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
	404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 504: "timeout_error", 529: "overloaded_error",
}

func statusOf(errorType string) int {
	for code, name := range errorTypes {
		if name == errorType {
			return code
		}
	}
	return http.StatusInternalServerError
}

func (f *Fault) apiError() apiError {
	e := apiError{Type: "error"}
	e.Error.Type, e.Error.Message = f.Type, f.Message
	if e.Error.Type == "" {
		e.Error.Type = errorTypes[f.Status]
	}
	if e.Error.Type == "" {
		e.Error.Type = "api_error"
	}
	if e.Error.Message == "" {
		e.Error.Message = "The script says so"
	}
	return e
}

func (f *Fault) refuse(w http.ResponseWriter) {
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	if f.Body != "" {
		w.WriteHeader(f.Status)
		_, _ = io.WriteString(w, f.Body)
		return
	}
	e := f.apiError()
	writeError(w, f.Status, e.Error.Type, e.Error.Message)
}

func writeError(w http.ResponseWriter, status int, kind, text string) {
	e := apiError{Type: "error"}
	e.Error.Type, e.Error.Message = kind, text
	writeJSON(w, status, e)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"type":"error","error":{"type":"api_error","message":"encode answer"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(status)
	_, _ = w.Write(data)
}
