package broker_test
import ("testing";"context";"fmt";"github.com/heraldbus/herald";"github.com/heraldbus/herald/broker")
func TestSmoke(t *testing.T){
	var b broker.Broker
	orders, err := broker.Topic[int](&b, "orders.eu"); if err!=nil {t.Fatal(err)}
	if err := broker.Handle(&b, "orders.*", "h", func(ctx context.Context, m herald.Message[int]) error { fmt.Println("h", m.Payload, m.Topic()); return nil}); err!=nil {t.Fatal(err)}
	if err := broker.Handle(&b, ">", "any", func(ctx context.Context, m herald.Message[any]) error { fmt.Println("any", m.Payload, m.Topic()); return fmt.Errorf("x")}); err!=nil {t.Fatal(err)}
	orders.Publish(t.Context(), 1)
	fmt.Println(broker.Publish(t.Context(), &b, "orders.eu", 2))
	fmt.Println(broker.Publish(t.Context(), &b, "orders.eu", "x"))
	fmt.Println(broker.Publish(t.Context(), &b, "orders.us", "x"))
	fmt.Println(b.RunUntilIdle(t.Context()))
	for l := range b.DeadLetters().All() { fmt.Println(l) }
	fmt.Println(b.Drain(t.Context()))
	fmt.Println(b.Run(t.Context()))
}
func BenchmarkByName(b *testing.B){
	var br broker.Broker
	broker.Topic[int](&br, "orders.eu")
	b.ReportAllocs()
	for b.Loop(){ broker.Publish(b.Context(), &br, "orders.eu", 2) }
}
