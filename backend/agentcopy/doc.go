// Package agentcopy keeps the copies in which agents work that do not see their channel's
// folder, or may only read it: it makes them, and puts into them what belongs to an agent.
// Agents write in copies, so nothing in one is believed: it is opened below the copy's root,
// ordinary files only, and bounded.
//
// hostfacts is handed its Seed; daemon and tests may import it.
package agentcopy
