package core

// What a review compares.
const (
	ReviewWorktree = "worktree" // what is not committed
	ReviewBranch   = "branch"   // a branch's worktree, and where it left the main one's branch
	ReviewTrees    = "trees"    // two trees by their ids; without To the worktree as it is
	ReviewRun      = "run"      // what a run changed, by its checkpoints; without From the channel's last one
)

// ReviewScope says what is compared. From and To count for ReviewTrees, From for ReviewRun.
type ReviewScope struct {
	Kind string `json:"kind"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// What a repository is at.
const (
	ReviewNothing    = "none"
	ReviewRebase     = "rebase"
	ReviewMerge      = "merge"
	ReviewCherryPick = "cherry-pick"
	ReviewRevert     = "revert"
	ReviewMail       = "am"
	ReviewUnborn     = "no-commits"
	ReviewNoRepo     = "no-repository"
	ReviewSubmodule  = "submodule" // its data is outside of the folder
)

// ReviewStatus is what has changed in a channel's folder.
type ReviewStatus struct {
	State    string `json:"state"`
	Branch   string `json:"branch"`           // empty where no branch is checked out
	Base     string `json:"base,omitempty"`   // the branch that a worktree's branch is compared with
	Editable bool   `json:"editable"`         // hunks can be staged and rejected
	Detail   string `json:"detail,omitempty"` // of a state without a list, or why hunks cannot be staged
	Run      RunID  `json:"run,omitempty"`    // of ReviewRun
	Until    string `json:"until,omitempty"`  // of ReviewRun
	// Files are in git's order. More says that there are others, and Odd how many names are no text.
	Files []ReviewFile `json:"files"`
	More  bool         `json:"more"`
	Odd   int          `json:"odd"`
}

// ReviewFile is one file that has changed. Added is -1 where lines are not counted.
type ReviewFile struct {
	Path string `json:"path"` // below the folder, with slashes
	// Kind is git's letter: M, A, D, T, or U where both sides of a merge changed it.
	Kind      string       `json:"kind"`
	Untracked bool         `json:"untracked,omitempty"`
	Added     int          `json:"added"`
	Removed   int          `json:"removed"`
	Staged    int          `json:"staged"`   // hunks
	Unstaged  int          `json:"unstaged"` // hunks
	Alarm     *ReviewAlarm `json:"alarm,omitempty"`
	Since     string       `json:"since,omitempty"` // of ReviewRun; with it nothing of the file can be staged here
}

// Where a run's changes end.
const (
	UntilEnd  = "end"  // of the run
	UntilNext = "next" // the next run's beginning: Loop kept nothing at the end
	UntilNow  = "now"  // the run goes on
)

// What became of a file since a run.
const (
	SinceEdited    = "edited"    // it was changed again
	SinceCommitted = "committed" // the last commit has it so
	SinceOther     = "other"     // git compares it with another text than the run found
	SinceOutside   = "outside"   // git has nothing of it
)

// RunChanges are the files that a run changed.
type RunChanges struct {
	Run   RunID
	Until string
	Files []RunChange
	More  bool
	Known bool // Edited counts: the folder could be read
}

// RunChange is a file as a run found it and left it. The blobs are git's names of both contents,
// empty for no file, in each of its two formats.
type RunChange struct {
	Path           string
	Kind           string // as ReviewFile's
	Added, Removed int    // -1: they are not counted, as of what is no text
	Edited         bool   // it was changed after the run
	Before, After  []string
}

// RunFile has the texts of a file before and after a run.
type RunFile struct {
	RunChange
	Known                  bool // as RunChanges'
	Old, New               string
	Text                   bool  // both are text, and not too long to be compared
	OldBytes, NewBytes     int64 // -1 is no file
	OldExecute, NewExecute bool
}

// ReviewAlarm says that a file reaches further than its project.
type ReviewAlarm struct {
	Kind string `json:"kind"` // hook, git, ci, ide, agent, install or shell
	Word string `json:"word"`
	Why  string `json:"why"` // a clause whose subject is the file
}

// Why a file cannot be taken by its hunks.
const (
	WholeBinary    = "binary"
	WholeLarge     = "large"
	WholeConflict  = "conflict"
	WholeSubmodule = "submodule"
	WholeFilter    = "filter" // a filter of git's changes it, which Loop does not run
)

// ReviewDiff is one file's changes.
type ReviewDiff struct {
	Path  string       `json:"path"`
	Hunks []ReviewHunk `json:"hunks"` // in the file's order
	// Whole says why the file can be staged only as one, empty where it is not so.
	Whole  string `json:"whole,omitempty"`
	Filter string `json:"filter,omitempty"` // its name, for WholeFilter
	Bytes  int64  `json:"bytes"`            // of the file now; -1 is no file
	Before int64  `json:"before"`           // of the file in HEAD; -1 is no file
	Mark   string `json:"mark"`             // of the file now, to stage it as one
	Since  string `json:"since,omitempty"`  // as ReviewFile's
}

// ReviewHunk is a change within a file. The numbers are those of the lines in HEAD and in the file now.
type ReviewHunk struct {
	ID      string `json:"id"` // by its text, so that it is another once the text is
	Staged  bool   `json:"staged"`
	Old     int    `json:"old"`
	OldSize int    `json:"old_size"`
	New     int    `json:"new"`
	NewSize int    `json:"new_size"`
	Section string `json:"section"` // the function that it is in, or what changed where there are no lines
	Lines   string `json:"lines"`   // each with its sign; bytes that are no text are replaced
}

// ReviewUndo names a change that was taken out and can be put back.
type ReviewUndo struct {
	ID string `json:"id"`
	// Doubt says why nobody knows whether it was taken out. It can be put back if it was.
	Doubt *Failure `json:"doubt,omitempty"`
}

// ReviewCommit is a commit that was made.
type ReviewCommit struct {
	ID string `json:"id"` // shortened
}
