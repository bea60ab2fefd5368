package core

// FileKind says what a name in a folder is.
type FileKind string

const (
	FileOrdinary FileKind = "file"
	FileFolder   FileKind = "folder"
	FileLink     FileKind = "link"
	FileOther    FileKind = "other" // a pipe, a socket or a device
)

// ContainerFile is a file as a channel's container has it.
type ContainerFile struct {
	Name       string   `json:"name"`
	Kind       FileKind `json:"kind"`
	Bytes      int64    `json:"bytes"`
	ModifiedMs int64    `json:"modified_ms"`
	Link       string   `json:"link,omitempty"` // what a link says, as it is written
}

// FilePlace is where a path leads.
type FilePlace struct {
	Path string `json:"path"` // in the container, without links
	// HostPath is the file on this computer; empty where the container alone has it.
	HostPath string `json:"host_path,omitempty"`
	ReadOnly bool   `json:"read_only,omitempty"` // the container's programs cannot change it
}

// FileStat is one file and where it is.
type FileStat struct {
	FilePlace
	ContainerFile
}

// FileListing is what is in a folder.
type FileListing struct {
	FilePlace
	Files []ContainerFile `json:"files"` // by name, never null
	// Left says why there is more than Files; empty where there is not.
	Left string `json:"left,omitempty"`
}

// FileMatch is a file or a folder that a search found.
type FileMatch struct {
	Path  string `json:"path"`  // below the agents' folder, of folders with a slash at the end
	Marks []int  `json:"marks"` // the letters that matched, in code points of Path; never null
	// Recent says that it is one of those that were named as recent.
	Recent bool `json:"recent,omitempty"`
	Files  int  `json:"files,omitempty"` // of a folder: how many files are below it
}

// FileMatches are the best of a search.
type FileMatches struct {
	Files   []FileMatch `json:"files"`   // best first, never null
	Total   int         `json:"total"`   // how many match
	Known   int         `json:"known"`   // how many were searched
	Ignored int         `json:"ignored"` // files and folders that git ignores
	Partial bool        `json:"partial"` // there are more than Loop looks through
}

// FileContent is the beginning of a file, or all of it.
type FileContent struct {
	FileStat
	Data  []byte `json:"data"`
	Whole bool   `json:"whole"`
	// Mark names the content of a whole file. A change by it is refused once that is another.
	Mark string `json:"mark,omitempty"`
}

// EditorOpened is what opening a file in the person's editor led to.
type EditorOpened struct {
	Name string   `json:"name"` // of the program
	Cmd  []string `json:"cmd"`  // that wants a terminal of this computer; empty: it was started. Never null
	Dir  string   `json:"dir,omitempty"`
}
