package engine

import (
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"loop/backend/core"
)

func TestUsageOf(t *testing.T) {
	at := time.Unix(7, 0)
	stats := func(cpu, memory uint64, files map[string]uint64) container.StatsResponse {
		return container.StatsResponse{Read: at, CPUStats: container.CPUStats{CPUUsage: container.CPUUsage{TotalUsage: cpu}},
			MemoryStats: container.MemoryStats{Usage: memory, Stats: files}}
	}
	for name, c := range map[string]struct {
		s    container.StatsResponse
		want core.ContainerUsage
	}{
		"control groups v2": {stats(5, 100, map[string]uint64{"inactive_file": 30}), core.ContainerUsage{At: at, CPU: 5, MemoryBytes: 70}},
		"control groups v1": {stats(5, 100, map[string]uint64{"total_inactive_file": 40, "inactive_file": 30}), core.ContainerUsage{At: at, CPU: 5, MemoryBytes: 60}},
		"more than all":     {stats(5, 100, map[string]uint64{"inactive_file": 130}), core.ContainerUsage{At: at, CPU: 5, MemoryBytes: 100}},
		"absurd":            {stats(1<<64-1, 1<<64-1, nil), core.ContainerUsage{At: at, CPU: 1<<63 - 1, MemoryBytes: 1<<63 - 1}},
		"stopped":           {stats(0, 0, nil), core.ContainerUsage{}},
	} {
		if got := usageOf(c.s); got != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
