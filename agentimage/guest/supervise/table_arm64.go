package supervise

var table = common
