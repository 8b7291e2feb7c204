// The part of the unit that works in every cycle: input multiplexers, edge detection, low-order
// counters and their carry-out. One instance of this logic for each counter.
module upc_event_counters #(
    parameter int unsigned COUNTERS = 256,
    parameter int unsigned INPUTS   = 4,
    parameter int unsigned LOW_BITS = 12
) (
    input logic clock,
    input logic reset,
    input logic run,

    input logic [INPUTS*COUNTERS-1:0] events,  // event E is input E / COUNTERS of E % COUNTERS

    // The configuration of each counter, and whether it was written in the cycle before: an edge
    // needs two samples of the same input.
    input logic [7*COUNTERS-1:0] setup,
    input logic [  COUNTERS-1:0] is_new,

    // Writes the low bits of the counters chosen here, which count nothing in this cycle.
    input logic [COUNTERS-1:0] write,
    input logic [LOW_BITS-1:0] write_data,

    output logic [         COUNTERS-1:0] carry_out,  // in the cycle of the event that carries
    output logic [LOW_BITS*COUNTERS-1:0] low
);
  for (genvar i = 0; i < COUNTERS; i++) begin : counter
    logic [1:0] mode;
    logic [4:0] chosen;
    logic level, earlier, active, was_active, counts;
    logic [LOW_BITS-1:0] value;

    assign mode   = setup[7*i+:2];
    assign chosen = setup[7*i+2+:5];

    // An input that is not there is low.
    always_comb begin
      level = 1'b0;
      for (int unsigned j = 0; j < INPUTS; j++) begin
        if (chosen == 5'(j)) level = events[j*COUNTERS+i];
      end
    end

    // Mode: 0 rising edge, 1 falling edge, 2 high level, 3 low level.
    assign active     = level ^ mode[0];
    assign was_active = (earlier ^ mode[0]) | is_new[i];
    assign counts     = run & active & (mode[1] | ~was_active) & ~write[i];

    assign carry_out[i] = counts & (&value);
    assign low[LOW_BITS*i+:LOW_BITS] = value;

    always_ff @(posedge clock) begin
      earlier <= level;
      if (reset) value <= '0;
      else if (write[i]) value <= write_data;
      else if (counts) value <= value + 1'b1;
    end
  end
endmodule
