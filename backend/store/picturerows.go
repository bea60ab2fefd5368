package store

import (
	"context"

	"loop/backend/core"
	"loop/backend/store/internal/said"
)

// NamesPicture says whether a run or an event of the channel names a picture by its id.
func (s *Store) NamesPicture(ctx context.Context, ch core.ChannelID, id string) (bool, error) {
	n, err := s.read.NamesPicture(ctx, said.NamesPictureParams{Channel: string(ch), Picture: id})
	return n > 0, s.wrap("look for a picture", err)
}
