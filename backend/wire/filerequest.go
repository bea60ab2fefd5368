package wire

// Bounds of “loop files”, which looks at a container's own files and changes them.
const (
	// MaxFileBytes bounds what is read from a file, or written to one, at a time (8 MiB): a
	// request with it is, as JSON, within MaxBody.
	MaxFileBytes = 8 << 20
	// MaxFileList bounds the list of a folder.
	MaxFileList = 5000
	// MaxFileReply bounds what “loop files” prints (16 MiB).
	MaxFileReply = 16 << 20
)

// Operations of a FileRequest.
const (
	FileStat   = "stat"
	FileList   = "list"
	FileRead   = "read"   // the first Most bytes
	FileWrite  = "write"  // Data, over a file whose content has Mark; without a mark a new one
	FileMkdir  = "mkdir"  // one folder
	FileRemove = "remove" // a file, a link, or a folder, which is empty unless All
	FileRename = "rename" // to To, where nothing is
)

// Faults of a FileReply.
const (
	FaultMissing   = "missing"
	FaultThere     = "there"      // something is there already
	FaultNoFolder  = "no folder"  // a folder was meant
	FaultNoFile    = "no file"    // an ordinary file was meant
	FaultDenied    = "denied"     // the user may not
	FaultNotEmpty  = "not empty"  // a folder
	FaultReadOnly  = "read-only"  // its file system
	FaultChanged   = "changed"    // its content has another mark, or it was exchanged meanwhile
	FaultTooLarge  = "too large"  // more than MaxFileBytes
	FaultNoSpace   = "no space"   // the disk is full
	FaultLinks     = "links"      // too many, or in a circle
	FaultOtherDisk = "other disk" // the new name is on another file system
	FaultOther     = "other"      // Detail has the kernel's words
)

// FileRequest is what “loop files” reads, as JSON. It works as the agent.
type FileRequest struct {
	Op   string `json:"op"`
	Path string `json:"path"` // absolute; links are followed, but for the last name by remove and rename
	To   string `json:"to,omitempty"`
	Mark string `json:"mark,omitempty"`
	Most int64  `json:"most,omitempty"`
	All  bool   `json:"all,omitempty"`
	Data []byte `json:"data,omitempty"`
}

// FileInfo is one file of a container. Everything in it is the container's word.
type FileInfo struct {
	Name       string `json:"name"`
	Kind       string `json:"kind"` // file, folder, link or other
	Bytes      int64  `json:"bytes"`
	ModifiedMs int64  `json:"modified_ms"`
	Link       string `json:"link,omitempty"` // what a link says
}

// FileReply is what “loop files” prints, as JSON.
type FileReply struct {
	Fault  string     `json:"fault,omitempty"`
	Detail string     `json:"detail,omitempty"`
	Path   string     `json:"path,omitempty"` // without links
	File   FileInfo   `json:"file"`
	Files  []FileInfo `json:"files,omitempty"` // by name
	More   bool       `json:"more,omitempty"`  // the folder has more than MaxFileList
	Data   []byte     `json:"data,omitempty"`
}
