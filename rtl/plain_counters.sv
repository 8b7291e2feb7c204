// What the counter unit is compared with: the same events, modes and bus, but every counter is WIDTH
// bits of registers with an incrementer of its own, and, with THRESHOLDS, a threshold register and a
// comparator of its own.
module plain_counters #(
    parameter int unsigned COUNTERS = 256,
    parameter int unsigned INPUTS = 4,
    parameter int unsigned WIDTH = 64,
    parameter bit THRESHOLDS = 1'b1,
    localparam int unsigned AddressBits = $clog2(COUNTERS) + 2
) (
    input logic clock,
    input logic reset,
    input logic run,

    input logic [INPUTS*COUNTERS-1:0] events,

    input  logic                   request_valid,
    input  logic                   request_write,
    input  logic [AddressBits-1:0] request_address,
    input  logic [      WIDTH-1:0] request_data,
    output logic                   response_valid,
    output logic [      WIDTH-1:0] response_data,

    output logic irq
);
  localparam int unsigned IndexBits = $clog2(COUNTERS);

  logic [1:0] region;
  logic [IndexBits-1:0] index;
  logic [COUNTERS-1:0] pending;
  logic [WIDTH*COUNTERS-1:0] values, thresholds;

  assign {region, index} = request_address;

  for (genvar i = 0; i < COUNTERS; i++) begin : counter
    logic [7:0] setup;
    logic level, earlier, active, counts, is_chosen, writes;
    logic [WIDTH-1:0] value;

    always_comb begin
      level = 1'b0;
      for (int unsigned j = 0; j < INPUTS; j++) begin
        if (setup[6:2] == 5'(j)) level = events[j*COUNTERS+i];
      end
    end
    assign active = level ^ setup[0];
    assign counts = run & active & (setup[1] | ~(earlier ^ setup[0]));
    assign is_chosen = index == IndexBits'(i);
    assign writes = request_valid && request_write && is_chosen;
    assign values[WIDTH*i+:WIDTH] = value;

    always_ff @(posedge clock) begin
      earlier <= level;
      if (reset) setup <= '0;
      else if (writes && region == 2'd3) setup <= request_data[7:0];
      if (reset) value <= '0;
      else if (writes && region == 2'd1) value <= request_data;
      else if (counts) value <= value + 1'b1;
    end

    if (THRESHOLDS) begin : threshold
      logic [WIDTH-1:0] limit;
      assign thresholds[WIDTH*i+:WIDTH] = limit;
      always_ff @(posedge clock) begin
        if (reset) limit <= '0;
        else if (writes && region == 2'd2) limit <= request_data;
        if (reset) pending[i] <= 1'b0;
        else if (counts && setup[7] && value + 1'b1 == limit) pending[i] <= 1'b1;
        else if (writes && region == 2'd0) pending[i] <= 1'b0;
      end
    end else begin : no_threshold
      assign thresholds[WIDTH*i+:WIDTH] = '0;
      assign pending[i] = setup[7] & 1'b0;
    end
  end

  always_ff @(posedge clock) begin
    response_valid <= !reset && request_valid;
    response_data <= '0;
    for (int unsigned i = 0; i < COUNTERS; i++) begin
      if (index == IndexBits'(i)) begin
        if (region == 2'd1) response_data <= values[WIDTH*i+:WIDTH];
        if (region == 2'd2) response_data <= thresholds[WIDTH*i+:WIDTH];
      end
    end
  end
  assign irq = |pending;
endmodule
