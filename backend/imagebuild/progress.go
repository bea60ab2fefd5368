package imagebuild

import (
	"regexp"
	"strconv"
)

// buildProgress estimates how far a build is from what the builder prints: steps read
// “#9 [claude 2/2] RUN …” from BuildKit, which counts within a stage, and
// “Step 3/12 : RUN …” from the engine's own builder, which counts through.
type buildProgress struct {
	counts int               // how many counts there will be: a stage's size is known only once one of its steps was seen
	steps  map[string][2]int // by stage: step, steps
	of     int               // steps of the stage that moved last
	lines  int               // of output since it did
}

// kitStages is how many stages agentimage/Dockerfile has.
const kitStages = 3

var buildStep = regexp.MustCompile(`^(?:#\d+ \[([\w-]+) +|Step )(\d{1,3})/(\d{1,3})[] ]`)

func (p *buildProgress) line(line string) float64 {
	if m := buildStep.FindStringSubmatch(line); m != nil && len(p.steps) < 2*kitStages {
		n, _ := strconv.Atoi(m[2])
		of, _ := strconv.Atoi(m[3])
		if n > p.steps[m[1]][0] && n <= of {
			p.steps[m[1]] = [2]int{n, of}
			p.of, p.lines = of, 0
		}
	}
	p.lines++
	var sum float64
	for _, s := range p.steps {
		sum += float64(s[0]-1) / float64(s[1])
	}
	// A stage that has begun means that those before it are nearly done, and a
	// long step that it moves: installing packages prints some 300 lines.
	sum += 0.4 * float64(max(0, len(p.steps)-1))
	if p.of > 0 {
		sum += 0.8 / float64(p.of) * float64(p.lines) / float64(p.lines+150)
	}
	return min(sum/float64(p.counts), 0.95)
}

// builder takes what a builder prints.
func (r *reporter) builder(counts int) func(line string) {
	p := buildProgress{counts: counts, steps: map[string][2]int{}}
	return func(line string) {
		r.line(line)
		r.progress(shareProbe + p.line(line)*(shareBuild-shareProbe))
	}
}
