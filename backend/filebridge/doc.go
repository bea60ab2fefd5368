// Package filebridge reads and changes files by the paths that a channel's container has
// for them, or by this computer's. What is mounted is opened here, name by name, so that no
// link leads out of a mount or past another one. What the container alone has is asked of
// its program “loop files”, which works as the agent.
//
// It is a service: provision says which mounts there are, the registry which containers run,
// and links lead into them. Package daemon imports it.
package filebridge
