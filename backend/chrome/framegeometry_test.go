package chrome

import (
	"math"
	"strings"
	"testing"
)

// TestPlacements shifts, scales and turns a frame within another one that does so too.
func TestPlacements(t *testing.T) {
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	half := placement{xx: 0.5, x0: 100, yy: 0.5, y0: 20}
	turned := placement{xy: -1, x0: 300, yx: 1, y0: 40} // by a quarter
	both := half.after(turned)
	x, y := both.apply(10, 30)
	if !near(x, 0.5*(300-30)+100) || !near(y, 0.5*(40+10)+20) {
		t.Errorf("(10, 30) is at (%g, %g)", x, y)
	}
	if x, y, ok := both.back(x, y); !ok || !near(x, 10) || !near(y, 30) {
		t.Errorf("back it is (%g, %g), %v", x, y, ok)
	}
	if b := both.box(box{0, 0, 20, 10}); !near(b.w, 5) || !near(b.h, 10) || !near(b.x, 245) || !near(b.y, 40) {
		t.Errorf("the box is %+v", b)
	}
	if b := inPlace.box(box{1, 2, 3, 4}); b != (box{1, 2, 3, 4}) {
		t.Errorf("in place is %+v", b)
	}
	if _, _, ok := (placement{x0: 1}).back(1, 1); ok {
		t.Error("a frame without a size has places")
	}
}

func FuzzFilledIn(f *testing.F) {
	f.Add("%s is %d%% %c%", "it", "7")
	f.Fuzz(func(t *testing.T, format, a, b string) {
		got := filledIn([]string{format, a, b})
		if len(got) == 0 || len(got) > 3 || len(strings.Join(got, "")) > len(format)+len(a)+len(b) {
			t.Errorf("%q %q %q gives %q", format, a, b, got)
		}
		if !strings.Contains(format, "%") && (len(got) != 3 || got[0] != format) {
			t.Errorf("%q gives %q", format, got)
		}
	})
}
