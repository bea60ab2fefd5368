//go:build linux

package spawn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// stageConfig goes from loop init to the stage through a pipe, so that nothing
// of it is in any environment or command line. Argv and Env are NUL-joined
// bytes: JSON strings could not carry what is not UTF-8.
type stageConfig struct {
	Argv   []byte      `json:"argv"`
	Env    []byte      `json:"env"`
	Dir    string      `json:"dir"`
	UID    int         `json:"uid"`
	GID    int         `json:"gid"`
	Groups []int       `json:"groups"`
	RunDir string      `json:"run_dir"` // the spawn's private directory
	Files  []stageFile `json:"files"`
	Pipes  []int       `json:"pipes"` // descriptors that the program keeps besides 0, 1 and 2
}

type stageFile struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
}

// stageError is why the program was not executed.
type stageError struct {
	Code string `json:"code"` // a wire.ErrCode
	Text string `json:"text"`
}

// stageReport is what the stage tells the keeper: once without an error, right
// before it executes the program, or last of all with one. No report at all means
// that it died earlier.
type stageReport struct {
	Error *stageError `json:"error,omitempty"`
}

// keepEvent is what the keeper tells loop init: first how the start went, then
// how the program ended.
type keepEvent struct {
	Pid    int         `json:"pid,omitempty"`
	Status *int        `json:"status,omitempty"` // raw wait status
	Error  *stageError `json:"error,omitempty"`
	Limit  bool        `json:"limit,omitempty"` // there is no process for the program
}

func joinNul(list []string) []byte { return []byte(strings.Join(list, "\x00")) }

func splitNul(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.Split(string(b), "\x00")
}

func (c stageConfig) encode() ([]byte, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode stage: %w", err)
	}
	return b, nil
}

func decodeStage(b []byte) (stageConfig, error) {
	var c stageConfig
	dec := json.NewDecoder(bytes.NewReader(b))
	if err := dec.Decode(&c); err != nil {
		return stageConfig{}, fmt.Errorf("decode stage: %w", err)
	}
	return c, nil
}
