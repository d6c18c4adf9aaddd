package engine_test

import "encoding/json"

func killChild(requests *json.Decoder, answers *json.Encoder) error { return nil }
func lockChild(requests *json.Decoder, answers *json.Encoder) error { return nil }
func fullChild(requests *json.Decoder, answers *json.Encoder) error { return nil }
